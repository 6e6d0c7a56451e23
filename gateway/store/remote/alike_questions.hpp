// `ask_the_same` and `bring_together` find the questions of a call that ask the same of one bucket,
// so that they are encoded and decided as one. Pure.
#pragma once

#include "gateway/store/remote/call.hpp"

namespace gateway::store {

// True if both questions ask the same of the same buckets. A correction equals no other question.
bool ask_the_same(const pending_question& a, const pending_question& b);

// Moves equal questions of a call next to each other. None overtakes another question to its
// bucket, so that all are answered as if in their original order.
void bring_together(call& c);

}  // namespace gateway::store
