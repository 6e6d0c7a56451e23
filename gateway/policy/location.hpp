// Where a redirect leads: a text with places for what the request says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// What a request says.
struct location_subject {
    // The normalised host; may be empty.
    std::string_view host;
    // The path, in two parts, and the query with its '?'. The path begins with one '/'.
    std::string_view path_start;
    std::string_view path_rest;
    std::string_view query;
};

class location {
public:
    location() = default;

    // `text` may name {host} and {uri}, and no other place; else why it cannot be read.
    static std::string_view complaint_about(std::string_view text);

    // Of a text that nothing is complained of.
    explicit location(std::string_view text);

    const std::string& text() const { return text_; }

    bool names_host() const { return names_host_; }

    // Appends the target. It is a URI of the text's own authority, or of {host}, or a path.
    void append(const location_subject& subject, std::string& out) const;

private:
    enum class place : unsigned char { none, host, uri };

    // Text, and what comes behind it.
    struct piece {
        std::string text;
        place behind = place::none;
    };

    std::string text_;
    std::vector<piece> pieces_;
    bool names_host_ = false;
};

}  // namespace gateway::policy
