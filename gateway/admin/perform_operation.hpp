// `perform_operation` has a worker perform the admin API's operations on buckets.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/admin/awaited.hpp"
#include "gateway/limits/bucket_operations.hpp"

namespace gateway::admin {

// `admin_waiting` is the loop on which a call awaits its answers, and the deadline of all together.
struct admin_waiting {
    net::executor loop;
    base::instant until;
};

// Returns a worker's answer, or a failure if none came in time. For a split bucket the answer is
// about the whole: the tokens left in all parts, and whether one part has the tokens asked for, or
// else how long it takes until one has. A take uses the fullest part, a grant is divided by what
// the parts lack, and a reset, a ban or an unban applies to every part. The parts are asked in
// turn, so requests may take from the others meanwhile.
// Ownership: `from` and `wait` outlive the task.
net::task<limits::bucket_result> perform_operation(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_operation operation
);

}  // namespace gateway::admin
