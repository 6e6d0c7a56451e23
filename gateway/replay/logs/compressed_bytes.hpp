// `compressed_bytes` reads a file or a pipe and undoes its compression, gzip or Zstandard, which it
// knows by the first bytes. Files of several members one after the other are one text.
// Thread: one thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::replay {

// `decompressor` undoes one kind of compression.
class decompressor {
public:
    virtual ~decompressor() = default;

    // Takes bytes off the front of `from`, and fills the front of `to`. Returns the number of bytes
    // written. Sets `complaint` to what is wrong if the data cannot be decompressed.
    virtual std::size_t decompress(
        std::span<const char>& from, std::span<char> to, std::string& complaint
    ) = 0;

    // True if the data may end here.
    virtual bool is_complete() const = 0;
};

class compressed_bytes {
public:
    // Most bytes that are read of a file at a time.
    static constexpr std::size_t chunk_bytes = std::size_t{64} * 1024;

    // Opens the file; "-" is the standard input. A regular file ends where it ended now, although
    // it may grow.
    explicit compressed_bytes(const std::string& path);
    ~compressed_bytes();
    compressed_bytes(const compressed_bytes&) = delete;
    compressed_bytes& operator=(const compressed_bytes&) = delete;

    // Returns the next bytes of the text, at most as many as `room`. 0: it has ended, or
    // complaint() says why there are no more.
    std::size_t read(std::span<char> room);

    // Returns why the file cannot be read, in a sentence for people; empty if it can.
    const std::string& complaint() const { return complaint_; }

    // Returns the bytes of the file, 0 if it has no size, and how many of them were read.
    std::uint64_t size() const { return size_; }

    std::uint64_t position() const { return position_; }

private:
    std::string path_;
    int fd_ = -1;
    bool owns_fd_ = false;
    std::uint64_t size_ = 0;
    std::uint64_t position_ = 0;
    std::string complaint_;

    std::unique_ptr<char[]> chunk_;
    // Bytes that were read and not used.
    std::span<const char> ahead_{};
    bool began_ = false;
    bool at_end_ = false;
    // Null: the file is plain text.
    std::unique_ptr<decompressor> undo_;

    std::size_t read_file(std::span<char> room);
    bool fill();
    void begin();
    void complain(std::string_view what);
};

}  // namespace gateway::replay
