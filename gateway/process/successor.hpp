// The gateway that is to follow this one: started from the binary at this one's path, with all its
// listening sockets and, when it is prepared, its buckets. The main thread's, but for questions.
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
    // `ended` is called once: with nothing if it serves, by the buckets that were this one's; else
    // with why not, and it is no more. After that this may be destroyed, unless it serves.
    using outcome = std::function<void(const std::optional<std::string>& why_not)>;

    successor(const net::executor& executor, store::memory_store& buckets, outcome ended);

    // If it does not serve by then, it is ended.
    ~successor();
    successor(const successor&) = delete;
    successor& operator=(const successor&) = delete;

    // With these listening sockets. Calls `ended` later.
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
    // Readable when it has ended.
    net::socket exit_;
    pid_t pid_ = -1;
    // It may have, and change, the buckets.
    bool has_buckets_ = false;
    // Nothing more is to be told.
    bool over_ = false;
    bool serves_ = false;
    // Held by who asks.
    std::mutex asking_;
    // What is on its way to this may come after its end.
    std::shared_ptr<successor*> self_;

    void wait();
    void heard();
    void await_exit();
    void serve();
    void fail(const std::string& why);
    std::string end_of_process();

    // bucket_keeper
    void lock() override { asking_.lock(); }

    void unlock() override { asking_.unlock(); }

    std::optional<std::string> ask(std::string_view request) override;
};

}  // namespace gateway
