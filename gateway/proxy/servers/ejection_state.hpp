// `ejection_state` tells whether a server is passed over because it failed one request after the
// other, and until when. It is pure. There is one per server, for all workers together.
//
// After its first absence a server is back on trial: one failure sends it away again, for twice as
// long, and one success ends the trial. An absence is a first one again when the server has been
// back for as long as it was away.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/proxy/options.hpp"

namespace gateway::proxy {

class ejection_state {
public:
    // Counts a failed request. True if it is time for eject(), should the other servers permit it.
    bool failed(const ejection_options& rules, base::instant now);

    // Records a success. Returns false while the server is out: responses then are to requests that
    // it had before, and tell nothing new.
    bool succeeded(base::instant now);

    void eject(const ejection_options& rules, base::instant now);

    bool is_out(base::instant now) const { return length_ != base::duration{0} && now < until_; }

    // Returns when the last absence ends, or ended.
    base::instant until() const { return until_; }

private:
    std::uint32_t in_a_row_ = 0;
    // Length of the last absence; 0 = there was none.
    base::duration length_{0};
    base::instant until_{};
};

// True if one more of `servers` may be out, when `out` are already and `left` others could serve.
bool may_eject(
    const ejection_options& rules, std::size_t servers, std::size_t out, std::size_t left
);

}  // namespace gateway::proxy
