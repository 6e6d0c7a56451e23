#include "gateway/policy/location.hpp"

#include "gateway/http/authority.hpp"

#include <algorithm>
#include <optional>

namespace gateway::policy {

namespace {

constexpr std::string_view host_placeholder = "{host}";
constexpr std::string_view uri_placeholder = "{uri}";

// Returns the target for a sample request of the host "h" and the path "/" with `segment`.
std::string sample_of(const location& of, std::string_view segment)
{
    std::string sample;
    of.append({.host = "h", .path_start = "/", .path_rest = segment, .query = {}}, sample);
    return sample;
}

// Returns the text between the scheme and the path, or nothing if the sample has no scheme.
std::optional<std::string_view> authority_in(std::string_view sample)
{
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (sample.starts_with(scheme)) {
            const std::string_view rest = sample.substr(scheme.size());
            return rest.substr(0, rest.find_first_of("/?#"));
        }
    }
    return std::nullopt;
}

// Returns why the text is no target once its placeholders are filled in, or an empty text if it is
// one. `other` is a sample of another request for the same host.
std::string_view complaint_about_samples(std::string_view sample, std::string_view other)
{
    if (sample.starts_with("//")) {
        return "begins with two slashes, where browsers read a host: clients could choose it";
    }
    if (sample.starts_with('/')) {
        return {};
    }
    const auto authority = authority_in(sample);
    if (!authority) {
        return "expected http://…, https://… or a path that begins with '/'";
    }
    if (!http::is_authority(*authority)) {
        return "names no host behind its scheme, or has a port above 65535";
    }
    return authority == authority_in(other)
               ? std::string_view{}
               : "has {uri} where the host is read: clients could choose it";
}

}  // namespace

std::string_view location::complaint_about(std::string_view text)
{
    const bool visible =
        std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!visible || text.empty()) {
        return "expected printable ASCII characters without spaces, others as %XX";
    }
    const location read{text};
    const std::string sample = sample_of(read, "p");
    if (sample.find_first_of("{}") != std::string::npos) {
        return "only {host} and {uri} stand for something";
    }
    if (sample.find('\\') != std::string::npos) {
        return "has a backslash, which browsers read as a slash";
    }
    return complaint_about_samples(sample, sample_of(read, "q"));
}

location::location(std::string_view text) : text_(text)
{
    piece next;
    while (!text.empty()) {
        if (text.starts_with(host_placeholder)) {
            next.behind = placeholder::host;
            names_host_ = true;
            text.remove_prefix(host_placeholder.size());
        } else if (text.starts_with(uri_placeholder)) {
            next.behind = placeholder::uri;
            text.remove_prefix(uri_placeholder.size());
        } else {
            next.text += text.front();
            text.remove_prefix(1);
            continue;
        }
        pieces_.push_back(std::move(next));
        next = {};
    }
    pieces_.push_back(std::move(next));
}

void location::append(const location_subject& subject, std::string& out) const
{
    for (const piece& p : pieces_) {
        out += p.text;
        if (p.behind == placeholder::host) {
            out += subject.host;
        } else if (p.behind == placeholder::uri) {
            out.append(subject.path_start).append(subject.path_rest).append(subject.query);
        }
    }
}

}  // namespace gateway::policy
