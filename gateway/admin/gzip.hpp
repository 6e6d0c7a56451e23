// `gzipped` compresses answers of the admin API (RFC 1952). Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::admin {

std::string gzipped(std::string_view text);

}  // namespace gateway::admin
