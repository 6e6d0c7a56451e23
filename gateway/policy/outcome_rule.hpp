// `outcome_rule` states how a response changes the charge of its request.
#pragma once

#include "gateway/http/grpc/grpc_status.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::content {
class usage_reader;
}

namespace gateway::policy {

// `response_end` is what is known of a response when nothing more comes of it.
// Ownership: it views into the request's record.
struct response_end {
    // Numbers that its content has stated so far; null: nothing was read of it.
    const content::usage_reader* usage = nullptr;
    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
    // True if the client has left, so that no status counts.
    bool given_up = false;
};

// `response_result` is what a rule looks at.
struct response_result {
    int status = 0;
    // Outcome of the call, if the request is gRPC and its response has ended.
    std::optional<http::grpc_status> grpc{};
    // The end of the response; null while it goes on.
    const response_end* end = nullptr;
};

// `response_set` names responses by their statuses. Empty: none.
struct response_set {
    // Statuses of HTTP, each with the first and the last of a range.
    std::vector<std::pair<int, int>> ranges{};
    // Codes of gRPC, each as the bit of its number.
    std::uint32_t codes = 0;

    bool empty() const { return ranges.empty() && codes == 0; }

    bool contains(const response_result& r) const
    {
        const auto in = [&r](const auto& range) {
            return range.first <= r.status && r.status <= range.second;
        };
        return (r.grpc && contains(*r.grpc)) || std::any_of(ranges.begin(), ranges.end(), in);
    }

    // A code that gRPC does not know counts as `unknown`, as with clients.
    bool contains(http::grpc_status code) const
    {
        const bool known = code != http::grpc_status::other;
        return (codes >> number_of(known ? code : http::grpc_status::unknown) & 1) != 0;
    }

    void add(http::grpc_status code) { codes |= std::uint32_t{1} << number_of(code); }

    bool operator==(const response_set&) const = default;
};

// `stated_usage` is a number in a response that is part of what its request has cost.
struct stated_usage {
    // A place of the number.
    struct place {
        std::string path{};
        // Index of the path in policy::response_paths. Set by policy::finish().
        std::size_t index = 0;

        bool operator==(const place&) const = default;
    };

    // Places, at least one. The number that comes last counts.
    std::vector<place> places{};
    // Tokens that one of it costs.
    std::int64_t weight = 1;

    bool operator==(const stated_usage&) const = default;
};

struct outcome_rule {
    // Responses that keep the charge. Empty: all do.
    response_set charge_on{};
    // Responses that refill the bucket.
    response_set reset_on{};
    // Name, in lower case, of the response header that states what the request really cost. Empty:
    // none.
    std::string settle_header{};
    // Most tokens that it may state. A larger number counts as this.
    std::int64_t settle_max = 1;
    // True if the client gets that header.
    bool keep_settle_header = false;
    // Numbers in the content that state the cost, added up. Empty: none.
    std::vector<stated_usage> usage{};
    // Bytes of the response's content that cost one token; 0: they do not count.
    std::int64_t bytes_per_token = 0;
    // True if a response without those numbers refunds the tokens. Otherwise it keeps them.
    bool refunds_missing = false;

    // True if a response can change anything.
    bool any() const { return !charge_on.empty() || !reset_on.empty() || settles(); }

    // True if the response states what the request has cost.
    bool settles() const { return !settle_header.empty() || reads_end(); }

    // True if the cost is known when the response has ended.
    bool reads_end() const { return !usage.empty() || bytes_per_token > 0; }

    // True if the outcome of a call of gRPC counts, which is known when the response has ended.
    bool reads_grpc() const { return charge_on.codes != 0 || reset_on.codes != 0; }

    // True if this response keeps the charge. One that is not gRPC can be named by its status only:
    // without one, all such responses keep it.
    bool keeps_charge(const response_result& r) const
    {
        const bool all = r.grpc ? charge_on.empty() : charge_on.ranges.empty();
        return all || charge_on.contains(r);
    }

    bool operator==(const outcome_rule&) const = default;
};

}  // namespace gateway::policy
