#include "gateway/http/grpc/grpc.hpp"

#include "gateway/base/text.hpp"

namespace gateway::http {

namespace {

using body_state = grpc_body::state;

grpc_body refusal(grpc_status status, std::string_view detail)
{
    return {.is = body_state::refused, .status = status, .detail = detail};
}

constexpr std::string_view grpc_type = "application/grpc";

// Returns the media type without its parameters.
std::string_view type_of(std::string_view content_type)
{
    return base::trimmed(content_type.substr(0, content_type.find(';')));
}

// Reads the length in a prefix, which is big-endian.
std::uint32_t length_in(std::string_view prefix)
{
    std::uint32_t length = 0;
    for (const char c : prefix.substr(1, grpc_prefix_size - 1)) {
        length = length << 8 | static_cast<unsigned char>(c);
    }
    return length;
}

}  // namespace

std::array<char, grpc_prefix_size> grpc_prefix(std::uint32_t message_bytes)
{
    std::array<char, grpc_prefix_size> prefix{};
    for (std::size_t i = grpc_prefix_size - 1; i > 0; --i) {
        prefix[i] = static_cast<char>(message_bytes & 0xff);
        message_bytes >>= 8;
    }
    return prefix;
}

grpc_body read_grpc_body(std::string_view body, bool ended, std::size_t most)
{
    const grpc_body cut =
        ended ? refusal(grpc_status::internal, "the body ends within its message") : grpc_body{};
    if (!body.empty() && body.front() == 1) {
        return refusal(grpc_status::unimplemented, "the message is compressed");
    }
    if (!body.empty() && body.front() != 0) {
        return refusal(grpc_status::internal, "the message has an unknown flag");
    }
    if (body.size() < grpc_prefix_size) {
        return cut;
    }
    const std::size_t length = length_in(body);
    if (length > most) {
        return refusal(grpc_status::resource_exhausted, "the message is too long");
    }
    if (body.size() > grpc_prefix_size + length) {
        return refusal(grpc_status::internal, "the call has more than one message");
    }
    if (body.size() < grpc_prefix_size + length) {
        return cut;
    }
    if (!ended) {
        return {};  // Another message may come.
    }
    return {.is = body_state::whole, .message = body.substr(grpc_prefix_size)};
}

bool is_grpc_type(std::string_view content_type)
{
    const std::string_view type = type_of(content_type);
    return base::equal_ignoring_case(type.substr(0, type.find('+')), grpc_type);
}

bool is_protobuf_grpc_type(std::string_view content_type)
{
    const std::string_view type = type_of(content_type);
    return base::equal_ignoring_case(type, grpc_type) ||
           base::equal_ignoring_case(type, "application/grpc+proto");
}

}  // namespace gateway::http
