// What streams of messages mean, whatever their chunks are: heads as they are, bodies without
// framing. Says so when a stream is not well-formed.
#pragma once

#include "gateway/http/input/body_reader.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/input/response_parser.hpp"

#include <string>
#include <vector>

namespace gateway::client::testing {

struct plain_message {
    std::string head;
    std::string body;
    std::string trailers{};
    int status = 0;  // of a response
    bool complete = false;
    bool ends_at_close = false;  // and so can be complete or not

    bool operator==(const plain_message&) const = default;
};

struct plain_stream {
    std::vector<plain_message> messages;
    std::string rest;  // what is no complete head, yet or ever
    bool malformed = false;

    bool operator==(const plain_stream&) const = default;
};

// Takes the body of the last message off `bytes`.
inline void take_body(http::framing framing, std::string& bytes, plain_stream& out)
{
    plain_message& m = out.messages.back();
    http::body_reader reader(framing);
    const auto piece = reader.read(bytes);
    m.body = piece.content;
    m.trailers = piece.trailers;
    m.complete = reader.done();
    m.ends_at_close = reader.ends_at_close() && !reader.done();
    out.malformed = out.malformed || piece.malformed;
    bytes.erase(0, piece.consumed);
}

// Responses to requests of which `is_head` tells whether they were HEADs; of further ones, none
// was.
inline plain_stream read_responses(std::string bytes, const std::vector<bool>& is_head)
{
    plain_stream out;
    std::size_t request = 0;
    http::response_head head;
    while (!bytes.empty() && !out.malformed) {
        const bool answers_head = request < is_head.size() && is_head[request];
        const auto parsed = http::parse_response_head(bytes, answers_head, {}, head);
        if (parsed.is != http::parse_result::state::complete) {
            out.malformed = parsed.is == http::parse_result::state::rejected;
            break;
        }
        out.messages.push_back(
            {.head = bytes.substr(0, head.size), .body = {}, .status = head.status}
        );
        const http::framing framing = head.body;
        request += head.status >= 200 ? 1 : 0;
        bytes.erase(0, head.size);
        take_body(framing, bytes, out);
        if (!out.messages.back().complete) {
            break;
        }
    }
    out.rest = std::move(bytes);
    return out;
}

inline plain_stream read_requests(std::string bytes)
{
    plain_stream out;
    const http::options roomy{.max_header_bytes = 1 << 20, .max_headers = 1000};
    http::request_head head;
    while (!bytes.empty() && !out.malformed) {
        const auto parsed = http::parse_request_head(bytes, roomy, head);
        if (parsed.is != http::parse_result::state::complete) {
            out.malformed = parsed.is == http::parse_result::state::rejected;
            break;
        }
        out.messages.push_back({.head = bytes.substr(0, head.size), .body = {}});
        const http::framing framing = head.body;
        bytes.erase(0, head.size);
        take_body(framing, bytes, out);
        if (!out.messages.back().complete) {
            break;
        }
    }
    out.rest = std::move(bytes);
    return out;
}

}  // namespace gateway::client::testing
