// `read_list_query` reads the parameters of a GET call that lists buckets: "name=value&name=value".
// It decodes nothing. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::admin {

struct list_query {
    // `by=rejections`, in place of `by=requests`.
    bool by_rejections = false;
    // `limit=NAME`. Empty: the buckets of all limits.
    std::string limit{};
    // `n=NUMBER`, the most buckets to list.
    std::size_t most = 20;
    // The complaint about the query: a parameter that is unknown, wrong or there twice. Empty:
    // there is none.
    std::string complaint{};

    // Largest `n`, as each bucket that is listed may be looked up in its store.
    static constexpr std::uint64_t most_listed = 256;
};

// `knows_by`: the call has the parameter `by`.
list_query read_list_query(std::string_view query, bool knows_by);

}  // namespace gateway::admin
