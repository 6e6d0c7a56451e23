// `plain_http_answer` is what a client hears that speaks HTTP without TLS where TLS is expected.
#pragma once

#include <string>

namespace gateway::client {

std::string plain_http_answer();

}  // namespace gateway::client
