// `location` is the target of a redirect: a text with placeholders for parts of the request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// The parts of a request that fill the placeholders.
struct location_subject {
    // The normalized host. May be empty.
    std::string_view host;
    // The path, in two parts, and the query with its '?'. The path begins with one '/'.
    std::string_view path_start;
    std::string_view path_rest;
    std::string_view query;
};

class location {
public:
    location() = default;

    // Returns why `text` is no target, or an empty text if it is one. It may have the placeholders
    // {host} and {uri}, and no others.
    static std::string_view complaint_about(std::string_view text);

    // Requires: complaint_about(text) is empty.
    explicit location(std::string_view text);

    const std::string& text() const { return text_; }

    bool names_host() const { return names_host_; }

    // Appends the target: a URI of the text's own authority or of {host}, or a path.
    void append(const location_subject& subject, std::string& out) const;

private:
    enum class placeholder : unsigned char { none, host, uri };

    // A text, and the placeholder behind it.
    struct piece {
        std::string text;
        placeholder behind = placeholder::none;
    };

    std::string text_;
    std::vector<piece> pieces_;
    bool names_host_ = false;
};

}  // namespace gateway::policy
