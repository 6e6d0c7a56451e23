#include "gateway/http2/request_text.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"
#include "gateway/http/grpc/grpc.hpp"
#include "gateway/http/input/request_parser.hpp"

#include <algorithm>

namespace gateway::http2 {

namespace {

bool is_visible(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u > 0x20 && u != 0x7f;
    });
}

void append_line(std::string& out, std::string_view name, std::string_view value)
{
    out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

void request_text::clear()
{
    for (std::string* const part : parts()) {
        part->clear();
    }
    fields_ = 0;
    bytes_ = 0;
    has_length_ = false;
    is_websocket_ = false;
    is_grpc_ = false;
    too_large_ = {0};
}

void request_text::release_memory()
{
    for (std::string* const part : parts()) {
        base::clear_keeping_little(*part);
    }
}

void request_text::add(std::string_view name, std::string_view value, const http::options& bounds)
{
    const bool is_pseudo = name.starts_with(':');
    fields_ += is_pseudo ? 0 : 1;
    if (too_large_.status == 0 && bytes_ + name.size() + value.size() > bounds.max_header_bytes) {
        too_large_ = name == ":path" ? http::long_request_line : http::long_header;
    } else if (too_large_.status == 0 && fields_ > bounds.max_headers) {
        too_large_ = http::too_many_fields;
    }
    if (too_large_.status != 0) {
        return;
    }
    bytes_ += name.size() + value.size();
    if (is_pseudo) {
        add_pseudo(name, value);
    } else if (name == "cookie") {
        cookie_.append(cookie_.empty() ? "" : "; ").append(value);
    } else if (name == "host") {
        host_.assign(value);
    } else if (name == "sec-websocket-key" && !protocol_.empty()) {
        return;  // The gateway makes the handshake, and its key.
    } else {
        has_length_ = has_length_ || name == "content-length";
        is_grpc_ = is_grpc_ || (name == "content-type" && http::is_grpc_type(value));
        append_line(lines_, name, value);
    }
}

void request_text::add_pseudo(std::string_view name, std::string_view value)
{
    if (name == ":method") {
        method_.assign(value);
    } else if (name == ":scheme") {
        scheme_.assign(value);
    } else if (name == ":authority") {
        authority_.assign(value);
    } else if (name == ":path") {
        path_.assign(value);
    } else if (name == ":protocol") {
        protocol_.assign(value);
    }
}

request_text::verdict request_text::finish(bool last, std::string_view key)
{
    if (const auto wrong = check()) {
        return *wrong;
    }
    write(last, key);
    return verdict::readable;
}

// Returns what is wrong with the request, or nothing.
std::optional<request_text::verdict> request_text::check()
{
    if (too_large_.status != 0) {
        refusal_ = too_large_;
        return verdict::refused;
    }
    const bool contradicts =
        !authority_.empty() && !host_.empty() && !base::equal_ignoring_case(authority_, host_);
    const bool has_path = path_.starts_with('/') || path_ == "*";
    const bool needs_path = method_ != "CONNECT" || !protocol_.empty();
    if (contradicts || !is_visible(path_) || !is_visible(authority_) || !http::is_token(method_) ||
        (needs_path && !has_path)) {
        return verdict::malformed;
    }
    const bool known =
        base::equal_ignoring_case(scheme_, "http") || base::equal_ignoring_case(scheme_, "https");
    if (needs_path && !known) {
        refusal_ = {400, "the request's scheme is neither http nor https"};
        return verdict::refused;
    }
    is_websocket_ = !protocol_.empty();
    if (is_websocket_ && protocol_ != "websocket") {
        refusal_ = {501, "the only protocol that CONNECT carries here is websocket"};
        return verdict::refused;
    }
    return std::nullopt;
}

void request_text::write(bool last, std::string_view key)
{
    const std::string_view host = authority_.empty() ? host_ : authority_;
    const bool is_connect = method_ == "CONNECT" && !is_websocket_;
    text_.append(is_websocket_ ? "GET" : method_).append(" ");
    text_.append(is_connect ? host : path_).append(" HTTP/1.1\r\n");
    if (!host.empty()) {
        append_line(text_, "host", host);
    }
    text_.append(lines_);
    if (!cookie_.empty()) {
        append_line(text_, "cookie", cookie_);
    }
    if (is_websocket_) {
        text_.append("connection: upgrade\r\nupgrade: websocket\r\n");
        append_line(text_, "sec-websocket-key", key);
    } else if (!last && !has_length_) {
        text_.append("transfer-encoding: chunked\r\n");
    }
    text_.append("\r\n");
}

}  // namespace gateway::http2
