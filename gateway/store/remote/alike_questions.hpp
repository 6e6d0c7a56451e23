// Questions of one call that ask the same of one bucket: told and decided as one. Pure.
#pragma once

#include "gateway/store/remote/call.hpp"

namespace gateway::store {

// The same of the same buckets; a correction is like no other question.
bool ask_the_same(const pending_question& a, const pending_question& b);

// Brings those of a call together. None overtakes another that asks of that bucket, so that all are
// answered as if in their order.
void bring_together(call& c);

}  // namespace gateway::store
