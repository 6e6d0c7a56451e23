#include "gateway/client/plain_http_answer.hpp"

#include "gateway/http/output/own_response.hpp"

namespace gateway::client {

std::string plain_http_answer()
{
    http::fixed_response fixed{
        .status = 400,
        .content_type = "text/plain; charset=utf-8",
        .body =
            "This port speaks HTTPS, and the request came as plain HTTP: write https://...\r\n"};
    fixed.finish();
    std::string out;
    http::append_own_response({.fixed = &fixed, .close = true}, out);
    return out;
}

}  // namespace gateway::client
