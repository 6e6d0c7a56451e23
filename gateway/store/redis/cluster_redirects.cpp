// Redirects parts of calls that another node of a cluster has by now.
#include "gateway/store/redis/cluster_store.hpp"

#include <utility>

namespace gateway::store {

namespace {

// Pause before another look at a node that is new, or has not got all keys yet.
constexpr base::duration again_after = std::chrono::milliseconds{2};

// A part is given up this long before its call's deadline, which would count against the wrong
// node.
constexpr base::duration given_up_before = std::chrono::milliseconds{1};

}  // namespace

void cluster_store::redirect(
    const net::server_address& from, const redis::redirection& to, redis::sent_command part
)
{
    using kind = redis::redirection::kind;
    if (closed_ || redirected_.size() == max_redirected) {
        redis::link::fail_part(part, failure::overload, taken::no);
        return;
    }
    net::server_address node = to.to;
    if (to.what == kind::try_again) {
        node = from;
    } else {
        node.host = node.host.empty() ? from.host : node.host;
        part.asking = to.what == kind::ask;
    }
    if (link_to(node) == nullptr) {
        redis::link::fail_part(part, failure::loading, taken::no);
        return;
    }
    if (to.what == kind::moved) {
        map_.set_owner(to.slot, node);
        doubt();
    }
    redirected_.push_back({std::move(part), std::move(node)});
    if (to.what != kind::try_again) {
        look_after(redirected_.back());
    }
    if (redirected_.size() == 1) {
        redirected_again_.set(again_after);
    }
}

void cluster_store::look_after(redirected& one)
{
    if (one.carried) {
        return;
    }
    // A map that has come meanwhile may be full without the node.
    if (redis::link* const link = link_to(one.to)) {
        one.carried = link->carry(one.part);
    }
}

// Tries redirected parts again, and fails those whose time is over. A caller who hears of it may
// close everything, or have more parts redirected.
void cluster_store::look_after_redirected()
{
    std::vector<redirected> over;
    const base::instant now = base::now();
    std::erase_if(redirected_, [&](redirected& one) {
        const bool is_over = now + given_up_before >= one.part.until;
        if (is_over) {
            over.push_back(std::move(one));
        } else {
            look_after(one);
        }
        return is_over;
    });
    if (!redirected_.empty()) {
        redirected_again_.set(again_after);
    }
    for (const redirected& one : over) {
        const taken tokens = one.carried ? taken::perhaps : taken::no;
        redis::link::fail_part(one.part, failure::timeout, tokens);
    }
}

}  // namespace gateway::store
