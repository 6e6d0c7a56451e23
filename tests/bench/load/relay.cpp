// The floor under every proxy: `relay PORT UPSTREAM_PORT` joins each client connection with one of
// its own to the upstream and passes bytes on unread, one recv and one send each way.
#include "socket.hpp"
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

class end final : public watcher {
public:
    explicit end(int fd) : fd_{fd} {}

    void join(end& other) { other_ = &other; }

    void ready() override
    {
        static std::array<char, 65536> buffer;
        const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) {
            send(other_->fd_, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            close();
            other_->close();
        }
    }

private:
    void close()
    {
        if (fd_ >= 0) {
            ::close(fd_);
            fd_ = -1;
        }
    }

    int fd_;
    end* other_ = nullptr;
};

class acceptor final : public watcher {
public:
    acceptor(loop& in, std::uint16_t port, std::uint16_t upstream)
        : loop_{in}, fd_{listen_on(port)}, upstream_{upstream}
    {
        loop_.add(fd_, *this);
    }

    void ready() override
    {
        for (int fd = accept_from(fd_); fd >= 0; fd = accept_from(fd_)) {
            end& client = watch(fd);
            end& server = watch(connect_to(upstream_));
            client.join(server);
            server.join(client);
        }
    }

private:
    end& watch(int fd)
    {
        ends_.push_back(std::make_unique<end>(fd));
        loop_.add(fd, *ends_.back());
        return *ends_.back();
    }

    loop& loop_;
    int fd_;
    std::uint16_t upstream_;
    std::vector<std::unique_ptr<end>> ends_;  // kept to the end: a run opens a few thousand
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv)
{
    if (argc != 3) {
        return 2;
    }
    bench::allow_many_files();
    bench::loop loop;
    bench::acceptor acceptor{
        loop,
        static_cast<std::uint16_t>(std::atoi(argv[1])),
        static_cast<std::uint16_t>(std::atoi(argv[2]))};
    for (;;) {
        loop.turn(std::chrono::milliseconds{500});
    }
}
