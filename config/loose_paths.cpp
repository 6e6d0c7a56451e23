// Warnings of exact paths of which other spellings are treated in a way that is hardly meant.
#include "config/check.hpp"
#include "config/routes/route_name.hpp"
#include "gateway/base/text.hpp"
#include "gateway/policy/matcher.hpp"
#include "gateway/policy/paths/path.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace gateway::config {
namespace {

using policy::url_scheme;

// Methods to try for a route without `methods`. The last one stands for all others.
constexpr std::array<std::string_view, 8> usual_methods{
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", ""};

constexpr std::string_view same_limits = "give both the same limits";

char in_other_case(char c)
{
    return base::to_lower(c) != c ? base::to_lower(c)
           : c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20)
                                  : c;
}

// Returns spellings of the path in other cases: of all letters, of the first one, all small, and
// all capital. Routes of their own may have taken some of them.
std::array<std::string, 4> in_other_cases(const std::string& path)
{
    std::array<std::string, 4> others{path, path, path, path};
    auto& [swapped, first, small, capital] = others;
    const auto is_letter = [](char c) { return in_other_case(c) != c; };
    if (const auto letter = std::find_if(first.begin(), first.end(), is_letter);
        letter != first.end()) {
        *letter = in_other_case(*letter);
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
        swapped[i] = in_other_case(path[i]);
        small[i] = base::to_lower(path[i]);
        capital[i] = in_other_case(small[i]);
    }
    return others;
}

std::string with_other_ending(const std::string& path)
{
    const std::string bare{policy::without_final_slash(path)};
    return path == "/" ? path : bare.size() == path.size() ? path + '/' : bare;
}

// `sample` has requests that a route matches, in all but their paths.
class sample {
public:
    explicit sample(const policy::route_match& match) : host_(match.host)
    {
        if (host_.starts_with('*')) {
            host_.replace(0, 1, "any");
        }
        for (const policy::header_match& h : match.headers) {
            fields_.push_back(
                {.id = http::classify(h.name), .name = h.name, .value = h.value, .line = {}}
            );
        }
        methods_.assign(match.methods.begin(), match.methods.end());
        if (methods_.empty()) {
            methods_.assign(usual_methods.begin(), usual_methods.end());
        }
        if (match.scheme != url_scheme::https) {
            schemes_.push_back(false);
        }
        if (match.scheme != url_scheme::http) {
            schemes_.push_back(true);
        }
    }

    // Calls `use` with each of them, with that path, until it returns true. Returns true if it did.
    bool find(std::string_view path, const std::function<bool(policy::routing_subject)>& use) const
    {
        return std::any_of(schemes_.begin(), schemes_.end(), [&](bool secure) {
            return std::any_of(methods_.begin(), methods_.end(), [&](std::string_view method) {
                return use({method, host_, path, secure, fields_});
            });
        });
    }

private:
    std::string host_;
    std::vector<http::field> fields_;
    std::vector<std::string_view> methods_;
    std::vector<bool> schemes_;
};

// Returns a limit of the first route that the second lacks.
std::optional<std::size_t> lacked_limit(const policy::route& first, const policy::route& second)
{
    const auto lacked =
        std::find_if(first.limits.begin(), first.limits.end(), [&second](std::size_t limit) {
            return std::find(second.limits.begin(), second.limits.end(), limit) ==
                   second.limits.end();
        });
    return lacked == first.limits.end() ? std::nullopt : std::optional{*lacked};
}

class loose_paths {
public:
    loose_paths(const draft& d, findings& found) : d_(d), found_(found) {}

    void warn()
    {
        for (std::size_t i = 0; i < d_.policy.routes.size(); ++i) {
            const policy::route& route = d_.policy.routes[i];
            if (route.match.exact) {
                warn_of_cases(i);
                warn_of_endings(i);
                warn_of_circle(i);
            }
        }
    }

private:
    const draft& d_;
    findings& found_;
    const policy::matcher matcher_{d_.policy.routes};

    void warn_of_cases(std::size_t i)
    {
        const policy::route_match& match = d_.policy.routes[i].match;
        const bool may_ignore = !match.ignore_case && has_letters_of_ascii(match.path);
        const std::string_view advice = may_ignore ? "set \"ignore_case: true\"" : same_limits;
        warn_of_any(i, in_other_cases(match.path), advice);
    }

    void warn_of_endings(std::size_t i)
    {
        const policy::route_match& match = d_.policy.routes[i].match;
        const std::string other = with_other_ending(match.path);
        if (!warn_of_limits(i, other, same_limits) && match.ignore_case) {
            warn_of_any(i, in_other_cases(other), same_limits);
        }
    }

    void warn_of_any(
        std::size_t i, const std::array<std::string, 4>& spellings, std::string_view advice
    )
    {
        for (const std::string& spelling : spellings) {
            if (warn_of_limits(i, spelling, advice)) {
                return;
            }
        }
    }

    // Returns true if there was something to warn of.
    bool warn_of_limits(std::size_t i, const std::string& spelling, std::string_view advice)
    {
        const policy::route& route = d_.policy.routes[i];
        return sample{route.match}.find(spelling, [&](policy::routing_subject subject) {
            const auto other = matcher_.find(subject);
            subject.path = route.match.path;
            if (!other || d_.policy.routes[*other].upstream == policy::no_upstream ||
                matcher_.find(subject) != i) {
                return false;
            }
            const auto lacked = lacked_limit(route, d_.policy.routes[*other]);
            if (lacked) {
                found_.warning(
                    d_.routes[i].key("match.path_exact"),
                    quote(encoded_path(spelling)) +
                        " is the same to many servers, and goes to the route " +
                        quote(d_.policy.routes[*other].name) + " without the limit " +
                        quote(d_.policy.limits[*lacked].name) + ": " + std::string{advice}
                );
            }
            return lacked.has_value();
        });
    }

    // Warns if the route redirects to itself. Clients follow a redirect with GET, unless it is a
    // 307 or 308.
    void warn_of_circle(std::size_t i)
    {
        const policy::route& route = d_.policy.routes[i];
        const auto& answer = route.shape.answer;
        if (!answer || !answer->to) {
            return;
        }
        const std::string_view to = answer->to->text();
        std::string room;
        const auto target = policy::normalise_path(to.substr(0, to.find_first_of("?#")), room);
        const bool follows_with_get = answer->response.status < 307;
        const bool circle =
            target.refused_because.empty() && to.find('{') == std::string_view::npos &&
            sample{route.match}.find(target.path, [&](policy::routing_subject subject) {
                subject.method = follows_with_get ? "GET" : subject.method;
                return matcher_.find(subject) == i;
            });
        if (circle) {
            found_.warning(
                d_.routes[i].key("redirect.to"),
                "leads to this route again, as path_exact has the path with and without a final "
                "slash: give that path a route of its own"
            );
        }
    }
};

}  // namespace

void warn_of_loose_paths(const draft& d, findings& found)
{
    loose_paths{d, found}.warn();
}

}  // namespace gateway::config
