// `correct_bucket` corrects one bucket of the memory store, for a response or an operator.
#pragma once

#include "gateway/limit/correction.hpp"
#include "gateway/store/memory/memory_taking.hpp"

namespace gateway::store {

// `copies`: the buckets here may be copies of those of another process.
enum class copies : bool { no, yes };

// `vacancy` is the slot where a bucket is, or would be, and the present moment.
struct vacancy {
    bucket_id id;
    segment& in;
    limit::moment at;
};

// Makes a correction other than a charge. Returns false if there is no room, or as above.
// Requires: the segment of the slot is locked.
bool correct_bucket(
    memory_parts& parts,
    const charge& c,
    const vacancy& where,
    const limit::correction& what,
    copies may_be
);

}  // namespace gateway::store
