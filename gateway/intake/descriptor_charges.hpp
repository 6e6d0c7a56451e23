// `descriptor_charges` finds what the descriptors of a request by Envoy are to be charged. It is
// the intake of a rate-limit service, as `route_request` and `add_charges` are that of HTTP
// requests. Pure.
#pragma once

#include "gateway/envoy/rate_limit_request.hpp"
#include "gateway/intake/named_charge.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::intake {

// True if the entries are those of the rule, no more and no fewer.
bool matches(const policy::descriptor_rule& rule, std::span<const envoy::descriptor_entry> entries);

// Returns the first rule that matches, or null.
const policy::descriptor_rule* rule_for(
    const policy::rate_limit_service& service, std::span<const envoy::descriptor_entry> entries
);

class descriptor_charges {
public:
    // `outcome` says whether the limits can be asked.
    enum class outcome : std::uint8_t {
        // The charges are named.
        named,
        // A charge refuses the request whatever the buckets hold.
        refused,
        // The request cannot be decided.
        invalid,
    };

    // Adds the charges of all descriptors to `out`, which is empty.
    // Requires: the request has no more than envoy::max_descriptors descriptors.
    // Ownership: `out` and what refused() returns view into this object until the next call.
    [[nodiscard]] outcome name(
        const policy::policy& policy,
        const policy::rate_limit_service& service,
        const envoy::rate_limit_request& request,
        named_charges& out
    );

    // Returns the charge that refuses. It is of the descriptor refused_descriptor().
    // Requires: `refused`.
    const named_charge& refused() const { return *refused_; }

    std::size_t refused_descriptor() const { return refused_descriptor_; }

    // Returns why the request cannot be decided, in a clause for people.
    // Requires: `invalid`.
    std::string_view complaint() const { return complaint_; }

    // Returns the index of the descriptor that the i-th charge is of.
    std::size_t descriptor_of(std::size_t i) const { return descriptor_of_[i]; }

    // True if the descriptor's plan has no limit, by a limit of its rule.
    bool is_unlimited(std::size_t descriptor) const { return unlimited_[descriptor]; }

    // True if a charge is under numbers that a descriptor brought along.
    bool overrides() const { return override_count_ > 0; }

private:
    std::array<std::size_t, policy::max_limits_per_route> descriptor_of_{};
    std::array<bool, envoy::max_descriptors> unlimited_{};
    // The numbers that descriptors have brought along, one for each charge under them.
    std::array<std::optional<limit::limit>, policy::max_limits_per_route> overrides_;
    std::size_t override_count_ = 0;
    // Index of the first charge of the descriptor that is being named. A later one with the same
    // key has the values of another descriptor.
    std::size_t first_ = 0;
    const named_charge* refused_ = nullptr;
    std::size_t refused_descriptor_ = 0;
    std::string_view complaint_;

    outcome add(
        const policy::policy& policy,
        std::size_t limit,
        std::size_t descriptor,
        const envoy::rate_limit_request& request,
        named_charges& out
    );
    bool replace_numbers(const envoy::rate_override& by, named_charge& c);
};

}  // namespace gateway::intake
