#include "gateway/store/memory/snapshot_file.hpp"

#include "gateway/base/hash.hpp"

#include <openssl/evp.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gateway::store {

namespace {

constexpr std::size_t digest_size = std::tuple_size_v<base::sha256_digest>;

std::string words_of(int error)
{
    return std::generic_category().message(error);
}

}  // namespace

// A path that cannot be examined gets no complaint: the user that the gateway will run as may be
// able to use it.
std::optional<std::string> complaint_about_path(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code ec;
    const fs::file_type what = fs::status(path, ec).type();
    if (what == fs::file_type::directory) {
        return "is a folder: name a file in it";
    }
    if (what != fs::file_type::regular && what != fs::file_type::not_found &&
        what != fs::file_type::none) {
        return "is no regular file: name one, which need not be there yet";
    }
    const fs::path folder = fs::path{path}.parent_path();
    const fs::file_type around = fs::status(folder.empty() ? "." : folder, ec).type();
    if (around != fs::file_type::directory && around != fs::file_type::none) {
        return "is in a folder that does not exist: make that, or name another";
    }
    return std::nullopt;
}

void snapshot_writer::freer::operator()(EVP_MD_CTX* of) const
{
    EVP_MD_CTX_free(of);
}

snapshot_writer::snapshot_writer(std::string path)
    : path_(std::move(path)),
      beside_(path_ + ".new"),
      file_(::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      error_(file_ < 0 ? errno : 0),
      digest_(EVP_MD_CTX_new())
{
    begin();
}

snapshot_writer::snapshot_writer(int file) : file_(file), digest_(EVP_MD_CTX_new())
{
    begin();
}

void snapshot_writer::begin()
{
    if (!digest_ || EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr) != 1) {
        throw std::bad_alloc{};
    }
}

snapshot_writer::~snapshot_writer()
{
    if (file_ >= 0 && !path_.empty()) {
        ::close(file_);
        if (!finished_) {
            ::unlink(beside_.c_str());
        }
    }
}

void snapshot_writer::put(std::string_view bytes)
{
    EVP_DigestUpdate(digest_.get(), bytes.data(), bytes.size());
    unwritten_ += bytes;
    if (unwritten_.size() >= at_once) {
        flush();
    }
}

void snapshot_writer::flush()
{
    std::string_view left = unwritten_;
    while (error_ == 0 && !left.empty()) {
        const ssize_t count = ::write(file_, left.data(), left.size());
        if (count >= 0) {
            left.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            error_ = errno;
        }
    }
    unwritten_.clear();
}

std::optional<std::string> snapshot_writer::finish()
{
    base::sha256_digest digest;
    EVP_DigestFinal_ex(digest_.get(), digest.data(), nullptr);
    unwritten_.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    flush();
    if (error_ == 0 && !path_.empty() && ::fsync(file_) != 0) {
        error_ = errno;
    }
    // The path is checked again, as renaming over a device, for example, would remove it.
    if (const auto complaint = path_.empty() ? std::nullopt : complaint_about_path(path_);
        error_ == 0 && complaint) {
        return "it " + *complaint;
    }
    if (error_ == 0 && !path_.empty() && ::rename(beside_.c_str(), path_.c_str()) != 0) {
        error_ = errno;
    }
    finished_ = error_ == 0;
    return finished_ ? std::nullopt : std::optional{words_of(error_)};
}

void snapshot_reader::unmapper::operator()(char* at) const
{
    ::munmap(at, size);
}

snapshot_reader::snapshot_reader(std::unique_ptr<char, unmapper> bytes)
    : bytes_reader({bytes.get(), bytes.get_deleter().size - digest_size}), bytes_(std::move(bytes))
{}

snapshot_reader::opened snapshot_reader::open(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT ? opened{}
                               : opened{.complaint = "cannot be opened: " + words_of(errno)};
    }

    struct stat about {};

    const bool known = ::fstat(file, &about) == 0;
    const auto size = known && S_ISREG(about.st_mode) ? static_cast<std::size_t>(about.st_size) : 0;
    void* const at =
        size > digest_size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    const int error = errno;
    ::close(file);
    if (size <= digest_size) {
        return {.complaint = "is no regular file, or too short"};
    }
    if (at == MAP_FAILED) {
        return {.complaint = "cannot be read: " + words_of(error)};
    }
    snapshot_reader reader{{static_cast<char*>(at), unmapper{size}}};
    const base::sha256_digest digest = base::sha256(reader.rest_);
    if (std::memcmp(digest.data(), reader.rest_.data() + reader.rest_.size(), digest_size) != 0) {
        return {.complaint = "is damaged: its checksum is another"};
    }
    return {.file = std::move(reader)};
}

std::string_view bytes_reader::take(std::size_t count)
{
    damaged_ = damaged_ || count > rest_.size();
    const std::string_view taken = rest_.substr(0, damaged_ ? 0 : count);
    rest_.remove_prefix(taken.size());
    return taken;
}

}  // namespace gateway::store
