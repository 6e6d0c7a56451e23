// Input: a byte of flags, then a request head.
#include "gateway/http/output/forward_request.hpp"

#include "gateway/base/text.hpp"
#include "tests/fuzz/heads.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace gateway;
using fuzz::require;
using http::field_name;

int count(const http::request_head& head, field_name id)
{
    return static_cast<int>(std::count_if(
        head.fields.begin(), head.fields.end(), [id](const http::field& f) { return f.id == id; }
    ));
}

// True if a field of that name is not to be forwarded, as Connection names it.
bool nominates(const http::request_head& head, std::string_view name)
{
    return std::any_of(head.fields.begin(), head.fields.end(), [name](const http::field& f) {
        return f.nominated && base::equal_ignoring_case(f.name, name);
    });
}

void require_forwarded(
    const http::request_head& in,
    const http::forward_options& options,
    const http::request_head& out
)
{
    require(out.method == in.method && out.path == in.path && out.query == in.query);
    require(!out.is_1_0() && !out.absolute_form && out.keep_alive);
    require(out.body.how == in.body.how && out.body.length == in.body.length);
    require(!out.respelt_length);
    require(
        out.max_forwards == (in.max_forwards ? std::optional(*in.max_forwards - 1) : std::nullopt)
    );
    require(out.authority == (in.authority.empty() ? options.default_host : in.authority));
    require(
        count(out, field_name::x_forwarded_for) == 1 &&
        count(out, field_name::x_forwarded_proto) >= 1
    );
    const bool wants_trailers = in.accepts_trailers && !in.websocket;
    require(count(out, field_name::disguised) == 0);
    require(count(out, field_name::te) == (wants_trailers ? 1 : 0));
    require(count(out, field_name::connection) == (wants_trailers ? 1 : 0));
    for (const http::field& f : out.fields) {
        const bool of_chunks = f.id == field_name::transfer_encoding || f.id == field_name::trailer;
        const bool of_trailers = f.line == "TE: trailers\r\n" || f.line == "Connection: TE\r\n";
        require(
            !http::hop_by_hop.contains(f.id) || of_trailers ||
            (of_chunks && out.body.how == http::framing::kind::chunked)
        );
        require(!f.nominated || f.id == field_name::te);
        require(
            !nominates(in, f.name) || f.id != field_name::other ||
            http::reads_as(f.name, options.identity_header)
        );
        require(f.id != field_name::x_forwarded_for || f.value.ends_with("192.0.2.1"));
    }
    if (!options.peer_trusted) {
        require(count(out, field_name::forwarded) + count(out, field_name::x_real_ip) == 0);
        require(count(out, field_name::rewrites_target) == 0);
        require(
            count(out, field_name::x_forwarded) == 0 &&
            count(out, field_name::x_forwarded_proto) == 1
        );
        require(std::none_of(out.fields.begin(), out.fields.end(), [&](const http::field& f) {
            return http::reads_as(f.name, options.identity_header);
        }));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::string bytes(data + 1, data + size);
    http::request_head in;
    if (http::parse_request_head(bytes, {}, in).is != fuzz::state::complete) {
        return 0;
    }
    if (in.max_forwards == 0U) {
        return 0;  // it ends with us
    }
    const http::forward_options options{
        .peer = "192.0.2.1",
        .peer_trusted = (data[0] & 1) != 0,
        .identity_header = "client-ip",
        .default_host = "default.test",
    };
    std::string sent;
    http::append_forwarded_request(in, options, sent);
    const http::options room{.max_header_bytes = 64 * 1024, .max_headers = 200};
    http::request_head out;
    require(
        http::parse_request_head(sent, room, out).is == fuzz::state::complete &&
        out.size == sent.size()
    );
    require_forwarded(in, options, out);
    return 0;
}
