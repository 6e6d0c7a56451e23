// What the local store says to a request's limits there.
#include "gateway/server/limit_check.hpp"

namespace gateway::server {

using telemetry::outcome;

// False: the request is refused, and the verdict says why.
bool limit_check::decide_locally(store::intent what, batch& b, outcome when_allowed)
{
    if (b.count == 0) {
        return true;
    }
    if (!local_.decide(what, b.all(), clock_.now(), b.given)) {
        return decide_without_room(what, b, when_allowed);
    }
    b.taken = b.given.admitted && what == store::intent::take;
    b.taken_at = b.given.taken_at;
    record(b, b.given, when_allowed);
    return b.given.admitted;
}

// The local table is full. A limit in shadow mode cannot be the one that refuses: the others are
// asked again without it. A look that sees nothing changes nothing.
bool limit_check::decide_without_room(store::intent what, batch& b, outcome when_allowed)
{
    if (what == store::intent::look) {
        return false;
    }
    batch rest;
    for (std::size_t i = 0; i < b.count; ++i) {
        verdict::entry& e = verdict_.entries[b.entry[i]];
        e.what = e.rule->enforced() ? outcome::failed_closed : outcome::failed_open;
        if (e.rule->enforced()) {
            const store::charge& c = b.charges[i];
            rest.add(items_[b.entry[i]], b.entry[i], c.bucket_name, *c.limit);
        }
    }
    if (rest.count == b.count) {
        verdict_.is = verdict::ruling::unavailable;
        return false;
    }
    b = rest;
    return decide_locally(what, b, when_allowed);
}

void limit_check::give_back(batch& b)
{
    if (!b.taken) {
        return;
    }
    local_.refund(b.all(), b.given, clock_.now());
    b.taken = false;
    store::answer now;  // without the charge
    if (!local_.decide(store::intent::look, b.all(), clock_.now(), now)) {
        return;
    }
    for (std::size_t i = 0; i < b.count; ++i) {
        if (b.given.decisions()[i].allowed) {
            put_decision(b, now, i);
        }
    }
}

}  // namespace gateway::server
