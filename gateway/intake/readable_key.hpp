// `name_bucket` makes the name of a bucket from the values of its key's parts, and `readable_key`
// gets the values back from the name, for people to read. Pure.
#pragma once

#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/policy.hpp"

#include <boost/json/array.hpp>

#include <span>
#include <string>
#include <string_view>

namespace gateway::intake {

// Names the bucket of a request whose key has these values, in the order of the rule's parts.
// Addresses are cut, and hosts, paths and headers are read as those of requests are. Returns a
// sentence for people about what is wrong with the values, or an empty text.
std::string name_bucket(
    const policy::policy& p,
    const policy::limit_rule& rule,
    std::span<const std::string> values,
    identity::bucket_name& out
);

// Returns for each part of the key `{"part": …}` and its "value", or its "sha256" (the first 32
// digits) if the value may be a secret. The name may be that of a bucket under an earlier policy
// with another key: a value that was a secret then stays one. An address that stands in for a
// missing part is shown as its value.
boost::json::array readable_key(
    const policy::policy& p, const policy::limit_rule& rule, std::string_view bucket_name
);

}  // namespace gateway::intake
