// Questions about buckets, put to a worker by the thread of the admin API.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/admin/awaited.hpp"
#include "gateway/limits/bucket_desk.hpp"

namespace gateway::admin {

// Where answers are awaited, and until when, all of a call together.
struct admin_waiting {
    net::executor loop;
    base::instant until;
};

// The answer of a worker, or that there was none in time. Of a bucket that is split it is about the
// whole: what is left in all its parts, whether one of them has the tokens, and after how long.
// A take is from the fullest part, a grant is divided by what they lack, a reset or a ban is of
// every part. Each part is asked in turn: requests may take from the others meanwhile. `from` must
// live until the task has ended.
net::task<limits::bucket_answer> ask_bucket(
    const admin_sources& from, const admin_waiting& wait, limits::bucket_question q
);

}  // namespace gateway::admin
