// `path_routes` holds the routes of one path, told apart by methods and headers: those that name
// methods first, then those that name more headers, then those that name more members of the
// content, then those that mind the case of letters, then in the order of declaration. The cost of
// a lookup depends on the number of different sets of headers that they name, not on the number of
// routes.
#pragma once

#include "gateway/base/text_hash.hpp"
#include "gateway/policy/route.hpp"
#include "gateway/policy/routing_subject.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gateway::policy {

class path_routes {
public:
    struct candidate {
        std::vector<std::string> methods;
        // Number of headers that the route names.
        std::size_t headers = 0;
        std::vector<json_match> json{};
        bool ignores_case = false;
        std::size_t index = 0;
    };

    // Adds a route. Only methods, headers, json and `ignore_case` of the match are used.
    void add(const route_match& match, std::size_t index);

    // Returns the first route that accepts the request, or null. One that depends on content whose
    // judgement is not clear accepts it, too.
    const candidate* find(const routing_subject& subject) const;

    // True if `a` is chosen for a request that both accept.
    static bool precedes(const candidate& a, const candidate& b);

private:
    // Candidates in order of precedence. The first that accepts a request is its route.
    using candidates = std::vector<candidate>;

    // Routes that name the same headers.
    struct header_group {
        std::vector<std::string> names;
        // Candidates by the headers' values, one after another, each with a NUL behind it.
        std::unordered_map<std::string, candidates, base::text_hash, std::equal_to<>> by_values;
    };

    candidates without_headers_;
    std::vector<header_group> groups_;

    static const candidate* first_for(const candidates& all, const routing_subject& subject);
    static const candidate* find_in(const header_group& group, const routing_subject& subject);
    candidates& beside(const std::vector<header_match>& headers);
};

}  // namespace gateway::policy
