// Loopback TCP and readiness, as little as both programs need. What cannot be done ends the
// program.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

using nanoseconds = std::chrono::nanoseconds;

int listen_on(std::uint16_t port);
int connect_to(std::uint16_t port);  // blocking connect; without Nagle's delay
// The same, with a small window and segments as on Ethernet; closing it resets it.
int connect_from_afar(std::uint16_t port);
int accept_from(int listener);  // -1 when nobody waits; without Nagle's delay
void allow_many_files();
[[noreturn]] void fail(const char* what);

// Told when its socket can be read, or written where it asked for that. Not owned by the loop.
class watcher {
public:
    virtual void ready() = 0;

protected:
    ~watcher() = default;
};

// A level-triggered epoll set.
class loop {
public:
    loop();
    void add(int fd, watcher& who) const;
    void watch_writing(int fd, watcher& who, bool on) const;  // besides reading
    void turn(nanoseconds patience) const;  // waits for events and tells their watchers

private:
    void control(int operation, int fd, watcher& who, std::uint32_t events) const;

    int epoll_;
};

}  // namespace bench
