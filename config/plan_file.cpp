#include "config/plan_file.hpp"

#include "config/plan_lines.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace gateway::config {
namespace {

constexpr std::size_t piece_bytes = 256 * std::size_t{1024};

class descriptor {
public:
    // Opens the file, without waiting for the other end of a pipe.
    explicit descriptor(const std::string& path)
        : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {}

    ~descriptor()
    {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    int fd() const { return fd_; }

private:
    int fd_;
};

std::int64_t nanoseconds(const timespec& t)
{
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

using file_status = struct stat;

file_stamp stamp_from(const file_status& s)
{
    return {
        .device = s.st_dev,
        .number = s.st_ino,
        .size = s.st_size,
        .written = nanoseconds(s.st_mtim),
        .changed = nanoseconds(s.st_ctim)};
}

std::string cannot_be_read(const std::string& path)
{
    return path + ": cannot be read: " + std::generic_category().message(errno);
}

// Reads the file. Returns what is wrong with it, or empty.
std::string read_into(plan_lines& lines, int fd, const std::string& path)
{
    bool good = true;
    std::vector<char> piece(piece_bytes);
    while (const ssize_t count = good ? ::read(fd, piece.data(), piece.size()) : 0) {
        if (count < 0 && errno != EINTR) {
            return cannot_be_read(path);
        }
        good = count < 0 || lines.add({piece.data(), static_cast<std::size_t>(count)});
    }
    if (!lines.finish()) {
        return path + ':' + std::to_string(lines.line()) + ": " + lines.complaint();
    }
    return lines.is_empty()
               ? path + ": the file is empty; if nobody has a plan, say so in a line: # nobody"
               : "";
}

}  // namespace

file_stamp stamp_of(const std::string& path)
{
    file_status s{};
    return ::stat(path.c_str(), &s) == 0 ? stamp_from(s) : file_stamp{};
}

plan_file read_plan_file(const std::string& path, const policy::key_part& part)
{
    const descriptor file{path};
    file_status s{};
    if (file.fd() < 0 || ::fstat(file.fd(), &s) != 0) {
        const std::string complaint = cannot_be_read(path);
        return {.members = nullptr, .stamp = stamp_of(path), .complaint = complaint};
    }
    plan_file result{.members = nullptr, .stamp = stamp_from(s), .complaint = {}};
    if (!S_ISREG(s.st_mode)) {
        result.complaint = path + ": not a regular file";
        return result;
    }
    plan_lines lines{part, base::random_hash_key()};
    result.complaint = read_into(lines, file.fd(), path);
    if (result.complaint.empty()) {
        result.members = std::make_shared<const policy::plan_table>(std::move(lines.table()));
    }
    return result;
}

}  // namespace gateway::config
