// `find_bucket` finds the name of a bucket by the hash by which the access log, GET /v1/top and the
// list of rejections know it. Stores know buckets by other hashes, so a name can be found only as
// long as a worker keeps it: of a bucket among those that ask most or are rejected most, of a
// recent rejection, and of a ban.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/admin/perform_operation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::admin {

// True if the text can be such a hash.
bool is_bucket_hash(std::string_view text);

// Returns the bytes of identity::bucket_name; nothing if no worker knows the bucket, or if none has
// answered in time.
// Ownership: all arguments outlive the task.
net::task<std::optional<std::string>> find_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    const std::string& limit,
    const std::string& hash
);

}  // namespace gateway::admin
