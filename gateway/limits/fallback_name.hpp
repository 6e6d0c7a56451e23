// `fallback_name()` names the bucket in the local store that stands in for one of a shared store
// which fails (on_store_failure: local).
#pragma once

#include "gateway/identity/bucket_name.hpp"

#include <string_view>

namespace gateway::limits {

// Returns `of`, the bytes of the bucket's name in the shared store, with one part added. `of` may
// name a part of a split bucket, too.
inline identity::bucket_name fallback_name(std::string_view of)
{
    identity::bucket_name name{of};
    name.add("local");
    return name;
}

}  // namespace gateway::limits
