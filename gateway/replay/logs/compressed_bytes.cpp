#include "gateway/replay/logs/compressed_bytes.hpp"

#include "gateway/replay/logs/decompressors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace gateway::replay {

namespace {

std::string reason()
{
    return std::generic_category().message(errno);
}

}  // namespace

compressed_bytes::compressed_bytes(const std::string& path)
    : path_(path == "-" ? "stdin" : path), chunk_(new char[chunk_bytes])
{
    owns_fd_ = path != "-";
    fd_ = owns_fd_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (fd_ < 0) {
        complain(reason());
        return;
    }

    struct stat found {};

    if (::fstat(fd_, &found) != 0) {
        complain(reason());
    } else if (S_ISDIR(found.st_mode)) {
        complain("is a directory: name the log files in it");
    } else if (S_ISREG(found.st_mode)) {
        size_ = static_cast<std::uint64_t>(found.st_size);
        ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
}

compressed_bytes::~compressed_bytes()
{
    if (owns_fd_ && fd_ >= 0) {
        ::close(fd_);
    }
}

void compressed_bytes::complain(std::string_view what)
{
    complaint_ = path_ + ": " + std::string{what};
}

std::size_t compressed_bytes::read_file(std::span<char> room)
{
    std::size_t most = room.size();
    if (size_ > 0) {
        most = std::min<std::uint64_t>(most, size_ - std::min(size_, position_));
    }
    while (most > 0) {
        const ssize_t n = ::read(fd_, room.data(), most);
        if (n >= 0) {
            position_ += static_cast<std::uint64_t>(n);
            return static_cast<std::size_t>(n);
        }
        if (errno != EINTR) {
            complain(reason());
            return 0;
        }
    }
    return 0;
}

// Reads bytes behind those that were not used. Returns false at the end of the file.
bool compressed_bytes::fill()
{
    if (ahead_.empty() && !at_end_) {
        const std::size_t n = read_file({chunk_.get(), chunk_bytes});
        ahead_ = {chunk_.get(), n};
        at_end_ = n == 0;
    }
    return !ahead_.empty();
}

// Looks at the first bytes. A pipe may return one at a time, so it reads until there are enough.
void compressed_bytes::begin()
{
    began_ = true;
    std::size_t have = 0;
    while (have < longest_magic && complaint_.empty()) {
        const std::size_t n = read_file({chunk_.get() + have, chunk_bytes - have});
        if (n == 0) {
            break;
        }
        have += n;
    }
    ahead_ = {chunk_.get(), have};
    undo_ = decompressor_for({chunk_.get(), have});
}

std::size_t compressed_bytes::read(std::span<char> room)
{
    if (!complaint_.empty()) {
        return 0;
    }
    if (!began_) {
        begin();
    }
    if (undo_ == nullptr) {
        if (!fill()) {
            return 0;
        }
        const std::size_t n = std::min(room.size(), ahead_.size());
        std::memcpy(room.data(), ahead_.data(), n);
        ahead_ = ahead_.subspan(n);
        return n;
    }
    while (complaint_.empty()) {
        const bool more = fill();
        std::string wrong;
        const std::size_t n = undo_->decompress(ahead_, room, wrong);
        if (!wrong.empty()) {
            complain("it cannot be decompressed: " + wrong);
        } else if (n > 0) {
            return n;
        } else if (!more) {
            if (!undo_->is_complete()) {
                complain("its compressed data ends too early");
            }
            return 0;
        }
    }
    return 0;
}

}  // namespace gateway::replay
