#include "gateway/policy/location.hpp"

#include <algorithm>

namespace gateway::policy {

namespace {

constexpr std::string_view host_place = "{host}";
constexpr std::string_view uri_place = "{uri}";

// Why the text is no target, once its places are filled in; empty: it is one.
std::string_view complaint_about_sample(std::string_view sample)
{
    if (sample.starts_with("//")) {
        return "begins with two slashes, where browsers read a host: clients could choose it";
    }
    if (sample.starts_with('/')) {
        return {};
    }
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (sample.starts_with(scheme)) {
            const std::string_view rest = sample.substr(scheme.size());
            const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
            const bool clear = !authority.empty() && authority.find('@') == std::string_view::npos;
            return clear ? std::string_view{} : "names no host behind its scheme";
        }
    }
    return "expected http://…, https://… or a path that begins with '/'";
}

}  // namespace

std::string_view location::complaint_about(std::string_view text)
{
    const bool visible =
        std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!visible || text.empty()) {
        return "expected printable ASCII characters without spaces, others as %XX";
    }
    location read{text};
    std::string sample;
    read.append({.host = "h", .path_start = "/", .path_rest = "p", .query = {}}, sample);
    if (sample.find_first_of("{}") != std::string::npos) {
        return "only {host} and {uri} stand for something";
    }
    if (sample.find('\\') != std::string::npos) {
        return "has a backslash, which browsers read as a slash";
    }
    return complaint_about_sample(sample);
}

location::location(std::string_view text) : text_(text)
{
    piece next;
    while (!text.empty()) {
        if (text.starts_with(host_place)) {
            next.behind = place::host;
            names_host_ = true;
            text.remove_prefix(host_place.size());
        } else if (text.starts_with(uri_place)) {
            next.behind = place::uri;
            text.remove_prefix(uri_place.size());
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
        if (p.behind == place::host) {
            out += subject.host;
        } else if (p.behind == place::uri) {
            out.append(subject.path_start).append(subject.path_rest).append(subject.query);
        }
    }
}

}  // namespace gateway::policy
