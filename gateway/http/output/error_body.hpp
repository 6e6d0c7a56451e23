// `error_body` is the gateway's own error as clients of an API read errors: those of OpenAI's and
// of Anthropic's API, and of JSON-RPC 2.0. Problem details are made in own_response.cpp. Pure.
#pragma once

#include "gateway/http/output/limit_headers.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

enum class error_format : std::uint8_t { problem, openai, anthropic, jsonrpc };

// `error_style` says how the gateway's own errors on a route are written.
struct error_style {
    error_format format = error_format::problem;
    // True if a 429 is sent with status 200, as some clients of JSON-RPC read no other body.
    bool rejects_with_200 = false;
    // The id of the JSON-RPC request, as encoded JSON. Empty: it is not known, which is null.
    std::string_view rpc_id{};

    int status_sent_for(int status) const
    {
        return status == 429 && rejects_with_200 ? 200 : status;
    }
};

// `error_facts` is what an error says.
struct error_facts {
    // The status, 400 or above.
    int status = 500;
    // A sentence for people, without characters that JSON would escape, and without a full stop.
    std::string_view detail{};
    // The limits that decided, if they reject the request.
    std::span<const limit_report> reports{};
    // Time to wait before trying again; 0: it is not known.
    base::duration retry_after{0};
    // The request's id, of visible ASCII. Empty: there is none.
    std::string_view request_id{};
};

// Requires: another format than problem details.
std::string error_body(const error_style& style, const error_facts& facts);

}  // namespace gateway::http
