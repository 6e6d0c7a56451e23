#include "gateway/telemetry/log_output.hpp"

#include "gateway/telemetry/syslog_output.hpp"

#include <climits>

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace gateway::telemetry {

namespace {

std::ptrdiff_t write_to(int fd, std::string_view bytes)
{
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    const bool may_be_repeated = n < 0 && (errno == EINTR || errno == EAGAIN);
    return may_be_repeated ? 0 : n;
}

// Writes small pieces, as a blocking write to a stalled reader could not be canceled, and a
// non-blocking descriptor would affect everyone who shares it. A writable pipe takes PIPE_BUF
// bytes.
class descriptor_output final : public log_output {
public:
    explicit descriptor_output(int fd) : fd_(fd) {}

    int fd() const override { return fd_; }

    std::ptrdiff_t write(std::string_view lines) override
    {
        return write_to(fd_, lines.substr(0, PIPE_BUF));
    }

private:
    const int fd_;
};

// Writes whole lines, as another process may append to the same file during an upgrade.
class file_output final : public log_output {
public:
    explicit file_output(int fd) : fd_(fd) {}

    ~file_output() override { ::close(fd_); }

    int fd() const override { return fd_; }

    std::ptrdiff_t write(std::string_view lines) override { return write_to(fd_, lines); }

private:
    const int fd_;
};

opened_output open_file(const std::string& path)
{
    constexpr mode_t readable_by_group = 0640;
    // A named pipe without a reader is an error then, and does not block.
    const int fd = ::open(
        path.c_str(),
        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
        readable_by_group
    );
    if (fd < 0) {
        return {nullptr, path + ": " + std::generic_category().message(errno)};
    }
    return {std::make_unique<file_output>(fd)};
}

}  // namespace

std::unique_ptr<log_output> output_to(int fd)
{
    return std::make_unique<descriptor_output>(fd);
}

opened_output open_output(const log_target& target)
{
    switch (target.is) {
        case log_target::kind::standard_output:
            break;
        case log_target::kind::file:
            return open_file(target.address);
        case log_target::kind::unix_syslog:
        case log_target::kind::udp_syslog:
            return open_syslog(target);
    }
    return {output_to(STDOUT_FILENO)};
}

std::unique_ptr<log_output> required_output(const log_target& target)
{
    opened_output opened = open_output(target);
    if (opened.output == nullptr) {
        throw std::runtime_error{"log.output: cannot open " + opened.complaint};
    }
    return std::move(opened.output);
}

}  // namespace gateway::telemetry
