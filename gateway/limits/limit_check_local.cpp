// This part of limit_check asks the local store about a request's limits there.
#include "gateway/limits/limit_check.hpp"

namespace gateway::limits {

using telemetry::outcome;

// Lets the limits collected so far reject the request. Returns false if they do not, and nothing is
// taken. A look comes first, as another request could miss tokens that are taken for a moment. The
// rejection itself is that of a take, which counts for bans.
bool limit_check::rejects_without_token(const policy_view& view)
{
    const store::shared_store* const shared = gather(view);
    if (shared != nullptr && shared->recalls(elsewhere_.all(), clock_.now(), elsewhere_.given) &&
        !elsewhere_.given.admitted) {
        record(elsewhere_, elsewhere_.given, outcome::allowed);
        decide_locally(store::intent::look, at_home_, outcome::allowed);
        return true;
    }
    store::answer& said = at_home_.given;
    const auto decides = [&](store::intent what) {
        return local_.decide(what, at_home_.all(), clock_.now(), said);
    };
    if (at_home_.count > 0 && decides(store::intent::look) && !said.admitted &&
        decides(store::intent::take)) {
        if (!said.admitted) {
            record(at_home_, said, outcome::allowed);
            return true;
        }
        local_.refund(at_home_.all(), said, clock_.now());  // somebody gave tokens back meanwhile
    }
    at_home_.clear();
    elsewhere_.clear();
    return false;
}

// Has the local store decide a batch. Returns false if the request is refused; the verdict says
// why.
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

// Decides a batch for which the local table has no room. A limit in shadow mode cannot be the one
// that refuses, so the others are asked again without it. A look that sees nothing changes nothing.
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
    store::answer now;  // the decisions without the charge
    if (!local_.decide(store::intent::look, b.all(), clock_.now(), now)) {
        return;
    }
    for (std::size_t i = 0; i < b.count; ++i) {
        if (b.given.decisions()[i].allowed) {
            put_decision(b, now, i);
        }
    }
}

}  // namespace gateway::limits
