// The name of the bucket in the local store that stands in for one of a shared store which fails
// (on_store_failure: local).
#pragma once

#include "gateway/identity/bucket_name.hpp"

#include <string_view>

namespace gateway::limits {

// One part more than `of`, the bucket's bytes in the shared store. Of a part of a bucket, too.
inline identity::bucket_name fallback_name(std::string_view of)
{
    identity::bucket_name name{of};
    name.add("local");
    return name;
}

}  // namespace gateway::limits
