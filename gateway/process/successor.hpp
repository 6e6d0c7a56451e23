// `successor` is the gateway process that is to follow this one. It is started from the binary at
// this one's path, with all its listening sockets and, when it is prepared, its buckets.
// Thread: the main thread, but for requests about buckets, which come from any thread.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"
#include "gateway/process/process_start.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gateway {

class successor final : private store::bucket_keeper {
public:
    // Type of `ended`, which is called once: with nothing if the process serves, and has the
    // buckets of this one; otherwise with the reason why not, when it is gone. After that this
    // object may be destroyed, unless the process serves.
    using outcome = std::function<void(const std::optional<std::string>& why_not)>;

    successor(const net::executor& executor, store::memory_store& buckets, outcome ended);

    // Ends the process, unless it serves.
    ~successor();
    successor(const successor&) = delete;
    successor& operator=(const successor&) = delete;

    // Starts the process with these listening sockets. Calls `ended` later. A process that does not
    // serve when `timeout` has passed is ended.
    void start(
        const own_start& how,
        const std::vector<startup::passed_socket>& listening,
        base::duration timeout
    );

    pid_t pid() const { return pid_; }

private:
    store::memory_store& buckets_;
    outcome ended_;
    net::timer timer_;
    boost::asio::posix::basic_stream_descriptor<net::executor> events_;
    net::socket channel_;
    net::socket file_;
    // A descriptor that is readable when the process has ended.
    net::socket exit_;
    pid_t pid_ = -1;
    // True if the process may have the buckets, and change them.
    bool has_buckets_ = false;
    // True if nothing more is to be reported.
    bool over_ = false;
    bool serves_ = false;
    // Held by the thread that asks.
    std::mutex mutex_;
    // This object, or null after its end, for events that come later.
    std::shared_ptr<successor*> self_;

    void wait();
    void heard();
    void await_exit();
    void serve();
    void fail(const std::string& why);
    std::string end_of_process();

    // bucket_keeper
    void lock() override { mutex_.lock(); }

    void unlock() override { mutex_.unlock(); }

    std::optional<std::string> ask(std::string_view request) override;
};

}  // namespace gateway
