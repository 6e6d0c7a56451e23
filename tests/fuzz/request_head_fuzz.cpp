// Input: a request head, and what follows it.
#include "gateway/http/request_target.hpp"
#include "tests/fuzz/beast_heads.hpp"
#include "tests/fuzz/heads.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using fuzz::require;

    const std::string bytes(data, data + size);
    const http::options limits{.max_header_bytes = 2048, .max_headers = 20};
    const auto parse = [&](std::string_view b, http::request_head& head) {
        return parse_request_head(b, limits, head);
    };
    fuzz::require_same_however_split<http::request_head>(bytes, parse);

    http::request_head head;
    const http::parse_result r = parse(bytes, head);
    require((r.is == fuzz::state::rejected) == (r.why.status != 400 || !r.why.detail.empty()));
    if (r.is != fuzz::state::complete) {
        return 0;
    }
    fuzz::require_sound_fields(bytes, head);
    require(head.size <= limits.max_header_bytes && head.fields.size() <= limits.max_headers);
    require(
        !head.method.empty() && head.method.size() <= http::max_method_bytes &&
        head.method != "CONNECT"
    );
    require((head.path.starts_with('/') && !head.path.starts_with("//")) || head.path == "*");
    require(head.query.empty() || head.query.front() == '?');
    require(head.is_1_0() || !head.authority.empty());
    require(head.body.how == http::framing::kind::length || head.body.length == 0);

    // Beast reads Proxy-Connection, which is in no RFC and which we drop, as if it were Connection.
    if (std::any_of(head.fields.begin(), head.fields.end(), [](const http::field& f) {
            return f.id == http::field_name::proxy_connection;
        })) {
        return 0;
    }
    const std::size_t start = bytes.starts_with("\r\n") ? 2 : 0;
    const auto fields = fuzz::beast_heads<true>{}.count_fields(
        std::string_view(bytes).substr(start, head.size - start)
    );
    require(fields == head.fields.size());
    return 0;
}
