// Buckets by what people say of them: names from the values of a key's parts, and back. Pure.
#pragma once

#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/policy.hpp"

#include <boost/json/array.hpp>

#include <span>
#include <string>
#include <string_view>

namespace gateway::intake {

// Names the bucket of a request whose key has these values, in the order of the rule's parts:
// addresses are cut, and hosts, paths and headers read as those of requests are. Returns what is
// wrong with them, in a sentence for people; empty: nothing.
std::string name_told_bucket(
    const policy::policy& p,
    const policy::limit_rule& rule,
    std::span<const std::string> values,
    identity::bucket_name& out
);

// The other way: for each part `{"part": …}` and its "value", or where that may be a secret its
// "sha256", the first 32 digits. An address instead of a part that is missing is its value.
boost::json::array readable_key(const policy::limit_rule& rule, std::string_view bucket_name);

}  // namespace gateway::intake
