#include "gateway/limits/checks/local_decisions.hpp"

namespace gateway::limits {

using telemetry::outcome;

// A look comes first, as another request could miss tokens that are taken for a moment. The
// rejection itself is that of a take, which counts for bans.
bool local_decisions::reject(charge_batch& b)
{
    const auto decides = [&](store::intent what) {
        return local_.decide(what, b.all(), clock_.now(), b.given);
    };
    if (b.count == 0 || !decides(store::intent::look) || b.given.admitted ||
        !decides(store::intent::take)) {
        return false;
    }
    if (b.given.admitted) {  // somebody refunded tokens meanwhile
        local_.refund(b.all(), b.given, clock_.now());
        return false;
    }
    limits_.record(b, b.given, outcome::allowed);
    return true;
}

bool local_decisions::decide(store::intent what, charge_batch& b, outcome when_allowed)
{
    if (b.count == 0) {
        return true;
    }
    if (!local_.decide(what, b.all(), clock_.now(), b.given)) {
        return decide_without_room(what, b, when_allowed);
    }
    b.taken = b.given.admitted && what == store::intent::take;
    b.taken_at = b.given.taken_at;
    limits_.record(b, b.given, when_allowed);
    return b.given.admitted;
}

// Decides a batch for which the local table has no room. A limit in shadow mode cannot be the one
// that refuses, so the others are asked again without it. A look that sees nothing changes nothing.
bool local_decisions::decide_without_room(store::intent what, charge_batch& b, outcome when_allowed)
{
    if (what == store::intent::look) {
        return false;
    }
    verdict& v = limits_.verdict();
    charge_batch rest;
    rest.stands_in = b.stands_in;
    for (std::size_t i = 0; i < b.count; ++i) {
        verdict::entry& e = v.entries[b.entry[i]];
        e.what = e.rule->enforced() ? outcome::failed_closed : outcome::failed_open;
        if (e.rule->enforced()) {
            const store::charge& c = b.charges[i];
            rest.add(limits_.all()[b.entry[i]], b.entry[i], c.bucket_name, *c.limit);
        }
    }
    if (rest.count == b.count) {
        v.is = verdict::ruling::unavailable;
        return false;
    }
    b = rest;
    return decide(what, b, when_allowed);
}

void local_decisions::refund(charge_batch& b)
{
    if (!b.taken) {
        return;
    }
    local_.refund(b.all(), b.given, clock_.now());
    b.taken = false;
    store::answer now;
    if (!local_.decide(store::intent::look, b.all(), clock_.now(), now)) {
        return;
    }
    for (std::size_t i = 0; i < b.count; ++i) {
        if (b.given.decisions()[i].allowed) {
            limits_.put_decision(b, now, i);
        }
    }
}

}  // namespace gateway::limits
