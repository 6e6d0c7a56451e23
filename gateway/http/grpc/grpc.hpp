// The parts of gRPC that do not depend on a connection: media types, and the prefix of a message.
// Pure.
#pragma once

#include "gateway/http/grpc/grpc_status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::http {

// Bytes in front of each message: a flag, 1 if the message is compressed, and its length.
inline constexpr std::size_t grpc_prefix_size = 5;

// Returns the prefix of an uncompressed message.
std::array<char, grpc_prefix_size> grpc_prefix(std::uint32_t message_bytes);

// `grpc_body` is the body of a call with one message, as far as it is there.
struct grpc_body {
    enum class state : std::uint8_t { incomplete, whole, refused };
    state is = state::incomplete;
    // The message, if `whole`.
    std::string_view message{};
    // Reason, if `refused`.
    grpc_status status = grpc_status::ok;
    std::string_view detail{};
};

// Reads the body of a call with one message of at most `most` bytes. `ended` says that no more
// comes. A body that is refused stays refused, whatever comes after it.
grpc_body read_grpc_body(std::string_view body, bool ended, std::size_t most);

// True if this is a media type of gRPC, whatever encodes its messages. That of gRPC-Web is none.
bool is_grpc_type(std::string_view content_type);

// True if this is the media type of gRPC with protobuf.
bool is_protobuf_grpc_type(std::string_view content_type);

}  // namespace gateway::http
