// `name_charge` finds what a request is to be charged under a limit. Pure, except that it reads
// what `key_subject` views.
#pragma once

#include "gateway/intake/named_charge.hpp"
#include "gateway/intake/request_key.hpp"

#include <span>

namespace gateway::intake {

// Sets `out` to the charge under the limit `index` of the policy. A key that one of the `earlier`
// charges of the same request has is copied from there.
void name_charge(
    const policy::policy& policy,
    std::size_t index,
    const key_subject& subject,
    std::span<const named_charge> earlier,
    named_charge& out
);

// Adds the charges under these limits. Stops at the first limit that refuses the request, and
// returns its charge, which is not added. Returns null if none does.
// Ownership: the result is in `out`, until that is added to.
const named_charge* add_charges(
    const policy::policy& policy,
    std::span<const std::size_t> limits,
    const key_subject& subject,
    named_charges& out
);

}  // namespace gateway::intake
