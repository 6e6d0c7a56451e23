// `request_text` writes a logged request as its client may have sent it, for the parser that real
// requests go through.
// Thread: one thread only.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"
#include "gateway/replay/logs/logged_request.hpp"

#include <string>
#include <string_view>

namespace gateway::replay {

class request_text {
public:
    // Ownership: all arguments outlive this object.
    request_text(const policy::policy& p, const http::options& bounds, const wanted_parts& wanted);

    // Returns the head of the request, or null if the parser refuses it. `named` is the route that
    // the request is known to have had, or null: the head gets the headers by which that matches.
    // Ownership: valid until the next call.
    const http::request_head* head_of(const logged_request& r, const policy::route* named);

private:
    const http::options& bounds_;
    const wanted_parts& wanted_;
    // The header that names the client. It says nothing if the log names the client itself.
    part_set client_header_;

    std::string text_;
    std::string query_;
    std::string fields_;
    http::request_head head_;

    void add_part(const policy::key_part& part, std::string_view value);
    void add_field(std::string_view name, std::string_view value);
    void add_parts(const logged_request& r);
    void add_headers_of(const policy::route& named, part_set known);
};

}  // namespace gateway::replay
