#include "gateway/process/standard_descriptors.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>

namespace gateway {

void open_standard_descriptors()
{
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const bool is_open = ::fcntl(fd, F_GETFD) >= 0;
        // A new descriptor has the lowest number that is free.
        if (!is_open && ::open("/dev/null", O_RDWR) != fd) {
            throw std::system_error(
                errno,
                std::generic_category(),
                "descriptor " + std::to_string(fd) + " is closed, and /dev/null cannot be opened"
            );
        }
    }
}

}  // namespace gateway
