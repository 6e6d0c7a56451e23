// `connection_options` reads the Connection fields of an HTTP/1 message (RFC 9110 §7.6.1).
#pragma once

#include "gateway/http/message.hpp"

#include <string_view>

namespace gateway::http {

class connection_options {
public:
    // Most fields that a message nominates.
    static constexpr std::size_t max_nominated = 32;

    // Reads one Connection field. Returns false if it is no list of tokens, or nominates too many
    // fields.
    [[nodiscard]] bool read(std::string_view value);

    // Marks the fields that are nominated.
    // Requires: read() has read the Connection fields among them, and no others.
    void mark_nominated(field_list& fields) const;

    // True if a field is nominated that a trailer could be, too. It then must not pass as a trailer
    // either (RFC 9110 §7.6.1).
    bool nominates_trailers() const { return nominates_trailers_; }

    // True if the sender keeps the connection for another message (RFC 9112 §9.3).
    bool keeps_alive(http_version version) const
    {
        return !close_ && (version != http_version::http_1_0 || keep_alive_);
    }

private:
    bool close_ = false;
    bool keep_alive_ = false;
    bool nominates_trailers_ = false;
    // Number of nominated fields, present or not.
    std::size_t nominated_ = 0;
};

}  // namespace gateway::http
