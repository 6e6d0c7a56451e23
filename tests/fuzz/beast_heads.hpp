// Boost.Beast's parser, as the other reader of a head: what we accept it must accept too, and count
// the same fields. (It is laxer than we are, so the reverse does not hold.)
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace gateway::fuzz {

template <bool IsRequest>
class beast_heads : public boost::beast::http::basic_parser<IsRequest> {
public:
    beast_heads()
    {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->body_limit(boost::none);
    }

    // The number of fields, or nothing if the bytes are no whole head to Beast.
    std::optional<std::size_t> count_fields(std::string_view head)
    {
        boost::beast::error_code ec;
        this->put(boost::asio::const_buffer{head.data(), head.size()}, ec);
        return !ec && this->is_header_done() ? std::optional{fields_} : std::nullopt;
    }

private:
    using text = boost::beast::string_view;
    using error = boost::beast::error_code;

    std::size_t fields_ = 0;

    void on_request_impl(boost::beast::http::verb, text, text, int, error&) override {}

    void on_response_impl(int, text, int, error&) override {}

    void on_field_impl(boost::beast::http::field, text, text, error&) override { ++fields_; }

    void on_header_impl(error&) override {}

    void on_body_init_impl(const boost::optional<std::uint64_t>&, error&) override {}

    std::size_t on_body_impl(text body, error&) override { return body.size(); }

    void on_chunk_header_impl(std::uint64_t, text, error&) override {}

    std::size_t on_chunk_body_impl(std::uint64_t, text body, error&) override
    {
        return body.size();
    }

    void on_finish_impl(error&) override {}
};

}  // namespace gateway::fuzz
