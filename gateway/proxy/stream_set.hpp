// `stream_set` holds the streams of an HTTP/2 connection: those that carry requests, spare ones,
// and those that are to be looked after when an event ends.
//
// Ownership: its connection.
// Thread: one thread only.
#pragma once

#include "gateway/proxy/upstream_stream.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace gateway::proxy {

class stream_set {
public:
    bool empty() const { return used_.empty(); }

    std::size_t size() const { return used_.size(); }

    // Adds a stream of `of`, which is to begin.
    upstream_stream& add(multiplexed_connection& of, const server_endpoint& to)
    {
        if (spare_.empty()) {
            spare_.push_back(std::make_unique<upstream_stream>(of, to));
        }
        used_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        used_.back()->index = used_.size() - 1;
        return *used_.back();
    }

    // Has `visit` called with each that carries a request. It adds none.
    template <typename Visit>
    void for_each(Visit visit)
    {
        for (std::size_t i = 0; i < used_.size(); ++i) {
            visit(*used_[i]);
        }
    }

    // Has the stream looked after at the end of this event.
    void touch(upstream_stream& s)
    {
        if (!std::exchange(s.is_touched, true)) {
            touched_.push_back(&s);
        }
    }

    bool any_touched() const { return !touched_.empty(); }

    // Lets touched streams tell their lessees what has come, and takes out those that are free.
    void look_after_touched()
    {
        for (std::size_t i = 0; i < touched_.size(); ++i) {
            upstream_stream& s = *touched_[i];
            s.is_touched = false;
            s.take_up();
            if (s.is_free() && !s.is_touched) {
                take_out(s);
            }
        }
        touched_.clear();
    }

private:
    std::vector<std::unique_ptr<upstream_stream>> used_;
    std::vector<std::unique_ptr<upstream_stream>> spare_;
    std::vector<upstream_stream*> touched_;

    void take_out(upstream_stream& s)
    {
        const std::size_t at = s.index;
        s.release_memory();
        spare_.push_back(std::move(used_[at]));
        if (at + 1 != used_.size()) {
            used_[at] = std::move(used_.back());
            used_[at]->index = at;
        }
        used_.pop_back();
    }
};

}  // namespace gateway::proxy
