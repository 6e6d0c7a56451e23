// `judge` says whether the content of a request has the members that a route names.
#pragma once

#include "gateway/content/request_values.hpp"
#include "gateway/policy/route.hpp"

#include <cstdint>
#include <span>

namespace gateway::policy {

enum class json_judgement : std::uint8_t {
    // The route is for the request, or for another one.
    matches,
    differs,
    // The content must be read first.
    unread,
    // Servers could read the content in different ways, or it is none that the gateway can read. To
    // pass it on to another route would be a way around this one.
    unclear,
    // The beginning that was read lacks a member, which may come later.
    too_long,
};

json_judgement judge(std::span<const json_match> members, const content::request_content& content);

}  // namespace gateway::policy
