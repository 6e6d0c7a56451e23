// `joined_leases` are leases that wait for a connection which is being made for another one, as
// requests share connections of HTTP/2.
// Ownership: the attempt at that connection.
// Thread: the pool's.
#pragma once

#include "gateway/proxy/pool/pending_lease.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <utility>

namespace gateway::proxy {

class joined_lease final : public lease_source {
public:
    pending_lease& lease;
    const lease_wish wish;
    // The list that it is in, and its position there.
    std::list<joined_lease>* home = nullptr;
    std::list<joined_lease>::iterator self;

    joined_lease(pending_lease& l, const lease_wish& w, std::function<void()> on_abandoned)
        : lease(l), wish(w), on_abandoned_(std::move(on_abandoned))
    {
        lease.comes_from(this);
    }

private:
    std::function<void()> on_abandoned_;

    void lease_abandoned() override
    {
        const auto notify = std::move(on_abandoned_);
        home->erase(self);
        notify();
    }
};

class joined_leases {
public:
    // Has the lease wait.
    void join(pending_lease& l, const lease_wish& wish, std::function<void()> on_abandoned)
    {
        joined_lease& j = all_.emplace_back(l, wish, std::move(on_abandoned));
        j.home = &all_;
        j.self = std::prev(all_.end());
    }

    std::size_t size() const { return all_.size(); }

    // Takes out all. They may still be abandoned.
    void take_out(std::list<joined_lease>& to)
    {
        for (joined_lease& j : all_) {
            j.home = &to;
        }
        to.splice(to.end(), all_);
    }

    // Takes out the first one.
    // Requires: there is one.
    pending_lease& take_first()
    {
        pending_lease& l = all_.front().lease;
        all_.pop_front();
        return l;
    }

    // Has `serve` called with each, and takes it out.
    template <typename Serve>
    static void take_each(std::list<joined_lease>& from, Serve serve)
    {
        while (!from.empty()) {
            pending_lease& l = from.front().lease;
            const lease_wish wish = from.front().wish;
            from.pop_front();
            serve(l, wish);
        }
    }

    // Abandons all.
    void abandon()
    {
        while (!all_.empty()) {
            all_.front().lease.abandon();
        }
    }

private:
    std::list<joined_lease> all_;
};

}  // namespace gateway::proxy
