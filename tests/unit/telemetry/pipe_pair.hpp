// A pipe to point a log at. Both ends close with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace gateway::telemetry {

class pipe_pair {
public:
    pipe_pair()
    {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
            std::abort();
        }
    }

    ~pipe_pair()
    {
        close_end(0);
        close_end(1);
    }

    pipe_pair(const pipe_pair&) = delete;
    pipe_pair& operator=(const pipe_pair&) = delete;

    int reader() const { return ends_[0]; }

    int writer() const { return ends_[1]; }

    void close_reader() { close_end(0); }

    void close_writer() { close_end(1); }

    std::string read_available()  // what is there now
    {
        ::fcntl(reader(), F_SETFL, O_NONBLOCK);
        return read_to_end();
    }

    std::string read_to_end()  // of what was written before the writer's end was closed
    {
        std::string all;
        std::array<char, 65536> some{};
        for (ssize_t n = 0; (n = ::read(reader(), some.data(), some.size())) > 0;) {
            all.append(some.data(), static_cast<std::size_t>(n));
        }
        return all;
    }

private:
    std::array<int, 2> ends_{-1, -1};

    void close_end(std::size_t i)
    {
        if (ends_[i] >= 0) {
            ::close(std::exchange(ends_[i], -1));
        }
    }
};

}  // namespace gateway::telemetry
