// A link whose connection cannot be watched, for want of something of our own, finds back when
// there is enough again.
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

bool no_more_watches = false;

}  // namespace

// Instead of the C library's, so that it can be made to fail for the sockets that net::poller
// watches; it is the only one to ask for EPOLLRDHUP.
extern "C" int epoll_ctl(int set, int operation, int fd, epoll_event* event) noexcept
{
    if (no_more_watches && operation == EPOLL_CTL_ADD && (event->events & EPOLLRDHUP) != 0) {
        errno = ENOSPC;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_epoll_ctl, set, operation, fd, event));
}

namespace gateway::store::testing {
namespace link_shortage_test {

TEST(redis_store, outlives_a_connection_that_cannot_be_watched)
{
    net::loop loop;
    auto& io = loop.context();
    telemetry::store_metrics metrics;
    const redis_server server;
    redis_options o;
    o.port = std::to_string(server.port());
    no_more_watches = true;
    const auto store = open_store(loop, "shared", o, metrics);
    EXPECT_FALSE(run_until(
        io, [&] { return store->healthy(); }, std::chrono::milliseconds{800}
    ));
    no_more_watches = false;
    EXPECT_TRUE(run_until(io, [&] { return store->healthy(); }));
    store->close();
    net::testing::end(loop);
}

}  // namespace link_shortage_test
}  // namespace gateway::store::testing
