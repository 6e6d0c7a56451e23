// Input: a byte of flags, then a response head and what follows it.
#include "gateway/http/input/response_parser.hpp"
#include "gateway/http/output/forward_response.hpp"
#include "tests/fuzz/beast_heads.hpp"
#include "tests/fuzz/heads.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using fuzz::require;

    if (size == 0) {
        return 0;
    }
    const unsigned flags = data[0];
    const std::string bytes(data + 1, data + size);
    const bool answers_head = (flags & 1) != 0;
    const auto parse = [&](std::string_view b, http::response_head& head) {
        return parse_response_head(b, answers_head, {}, head);
    };
    fuzz::require_same_however_split<http::response_head>(bytes, parse);

    http::response_head head;
    if (parse(bytes, head).is != fuzz::state::complete) {
        return 0;
    }
    fuzz::require_sound_fields(bytes, head);
    require(head.status >= 100 && head.status <= 999);
    // Beast insists on the space before a missing reason, and reads Proxy-Connection as Connection.
    const bool beast_differs =
        bytes[12] == '\r' ||
        std::any_of(head.fields.begin(), head.fields.end(), [](const http::field& f) {
            return f.id == http::field_name::proxy_connection;
        });
    const auto fields =
        fuzz::beast_heads<false>{}.count_fields(std::string_view(bytes).substr(0, head.size));
    require(beast_differs || fields == head.fields.size());

    const auto limit = limit::limit::make(1, std::chrono::seconds{1}, 9).value();
    const http::limit_report report{"limit", &limit, {.allowed = true}};
    const std::span<const http::limit_report> reports(&report, (flags & 16) != 0 ? 1 : 0);
    const http::response_options options{
        .client_http_1_0 = (flags & 2) != 0,
        .client_keep_alive = (flags & 4) != 0,
        .close = (flags & 8) != 0,
        .added = {.limits = {.reports = reports}},
    };
    std::string out;
    append_forwarded_response(head, options, out);
    http::response_head sent;
    require(parse(out, sent).is == fuzz::state::complete && sent.size == out.size());
    const http::framing expected = outbound_framing(head, options.client_http_1_0);
    require(sent.status == head.status && sent.reason == head.reason);
    require(sent.body.how == expected.how && sent.body.length == expected.length);
    require(!sent.respelt_length);
    const bool has_upgrade =
        std::any_of(head.fields.begin(), head.fields.end(), [](const http::field& f) {
            return f.id == http::field_name::upgrade;
        });
    const bool upgrades = head.status == 101 || (head.status == 426 && has_upgrade);
    require(sent.keep_alive == (!options.close || head.status == 101));
    for (const http::field& f : sent.fields) {
        require(f.nominated == (upgrades && f.id == http::field_name::upgrade));
    }
    return 0;
}
