// `awaited` is a value that another thread provides and a loop awaits until a deadline. It is a
// handle: copies share the value.
#pragma once

#include "gateway/net/task.hpp"

#include <boost/asio/post.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace gateway::admin {

template <class T>
class awaited {
public:
    awaited(const net::executor& waiting, base::instant until)
        : state_(std::make_shared<state>(waiting))
    {
        state_->end.expires_at(until);
    }

    // Provides the value.
    // Requires: called at most once.
    // Thread: any.
    void resolve(T what) const
    {
        boost::asio::post(state_->waiting, [s = state_, what = std::move(what)]() mutable {
            s->value = std::move(what);
            s->end.cancel();
        });
    }

    // Returns the value, or nothing after the deadline.
    // Thread: that of the waiting loop.
    net::task<std::optional<T>> result() const
    {
        const auto s = state_;
        if (!s->value) {
            co_await s->end.async_wait(net::use_task);
        }
        co_return std::move(s->value);
    }

private:
    struct state {
        net::executor waiting;
        net::timer end;
        std::optional<T> value{};

        explicit state(const net::executor& e) : waiting(e), end(e) {}
    };

    std::shared_ptr<state> state_;
};

}  // namespace gateway::admin
