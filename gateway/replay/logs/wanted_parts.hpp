// `wanted_parts` lists what policies want to know of a request beyond its line: headers, cookies,
// query parameters, claims, properties of certificates, members of JSON contents, and the host. A
// reader of a log says for each line which of them the log holds. A set of them is a word of bits.
#pragma once

#include "gateway/policy/policy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::replay {

using source = policy::key_part::source;

// A set of wanted parts, the bit i for the part i.
using part_set = std::uint64_t;

class wanted_parts {
public:
    // Most parts that are told apart. Nothing is ever known of further ones.
    static constexpr std::size_t most = 62;

    // `named_part` is a part with the name that a log has for it.
    struct named_part {
        std::string name;
        std::size_t part;
    };

    // Adds what the keys, plans, costs, routes and log fields of the policy depend on.
    void add(const policy::policy& p);

    // Returns the index of a part, which is added if it is new. Nothing: it needs no index, as
    // every log holds it, or there are too many.
    std::optional<std::size_t> add(const policy::key_part& part);

    // Returns the index of a part by its name; nothing if nobody wants it.
    // The case of letters does not count in the name of a header.
    std::optional<std::size_t> find(source from, std::string_view name) const;

    // Returns the set that has this one part. Empty if it has no index. A part past the bound is
    // never known, and belongs to no set.
    part_set set_of(const policy::key_part& part) const;

    // True if the part is past the bound.
    bool is_past_bound(const policy::key_part& part) const;

    // Returns the set of all parts from there.
    part_set all_from(source from) const;

    // Returns the parts of the set, in words for people.
    std::string names_of(part_set set) const;

    const std::vector<policy::key_part>& all() const { return parts_; }

    // Members of "fields" in the gateway's own log.
    const std::vector<named_part>& log_fields() const { return log_fields_; }

private:
    std::vector<policy::key_part> parts_;
    std::vector<named_part> log_fields_;
};

// Returns the parts of a request that state its cost.
std::vector<policy::key_part> stating_parts(const policy::cost_rule& rule);

// Returns the part as configurations write it.
std::string text_of(const policy::key_part& part);

// True if every log holds the part, or it follows from the policy.
bool is_always_known(const policy::key_part& part);

inline constexpr part_set bit(std::size_t part)
{
    return part_set{1} << part;
}

// Two more things that logs may tell: what a request cost, and how long it took.
inline constexpr part_set knows_cost = bit(wanted_parts::most);
inline constexpr part_set knows_duration = bit(wanted_parts::most + 1);

}  // namespace gateway::replay
