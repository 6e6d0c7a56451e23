// Preloaded into a server: its wall clock shows what a test says, microseconds since the Unix epoch
// in the file that GATEWAY_TEST_CLOCK names. Its monotonic clock goes on as it is.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>

namespace {

const std::atomic<std::int64_t>* map_clock()
{
    const int fd = ::open(std::getenv("GATEWAY_TEST_CLOCK"), O_RDONLY | O_CLOEXEC);
    void* const at = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || at == MAP_FAILED) {
        std::abort();
    }
    return static_cast<const std::atomic<std::int64_t>*>(at);
}

std::int64_t microseconds()
{
    static const std::atomic<std::int64_t>* const clock = map_clock();
    return clock->load();
}

}  // namespace

extern "C" int gettimeofday(timeval* into, void* /*zone*/) noexcept
{
    const std::int64_t now = microseconds();
    into->tv_sec = now / 1'000'000;
    into->tv_usec = now % 1'000'000;
    return 0;
}

extern "C" time_t time(time_t* into) noexcept
{
    const time_t now = microseconds() / 1'000'000;
    if (into != nullptr) {
        *into = now;
    }
    return now;
}
