// `snapshot_writer` and `snapshot_reader` keep what the local store knew in a file, for a process
// that is started later. The file has bytes of this machine's order, and at the end their SHA-256.
//
// A file is written beside its place and renamed when it is whole, so that there is always one that
// can be read. Only its owner may read it, since it contains the key by which buckets are found.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gateway::store {

// Returns why no snapshot can be kept at `path`, as words that follow the path, or nothing if one
// can.
std::optional<std::string> complaint_about_path(const std::string& path);

class snapshot_bytes {
public:
    template <typename T>
    void put(const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }

    void put_text(std::string_view text)
    {
        put(static_cast<std::uint32_t>(text.size()));
        bytes_ += text;
    }

    std::string_view bytes() const { return bytes_; }

    void clear() { bytes_.clear(); }

private:
    std::string bytes_;
};

class snapshot_writer {
public:
    // Opens a file beside `path`. Nothing that anybody would read is written before finish().
    explicit snapshot_writer(std::string path);

    // Writes into an open file without a name, from its beginning.
    // Ownership: the file stays open.
    explicit snapshot_writer(int file);

    // Removes what was written, unless finish() was successful.
    ~snapshot_writer();
    snapshot_writer(const snapshot_writer&) = delete;
    snapshot_writer& operator=(const snapshot_writer&) = delete;

    // Appends bytes. Errors are reported by finish().
    void put(std::string_view bytes);

    // Puts the file in its place. Returns why it could not; what was there before then stays.
    std::optional<std::string> finish();

private:
    static constexpr std::size_t at_once = 1024 * 1024;

    struct freer {
        void operator()(EVP_MD_CTX* of) const;
    };

    // Path of the file, empty if the file was open already.
    std::string path_;
    std::string beside_;
    int file_;
    // errno of the first call that failed.
    int error_ = 0;
    bool finished_ = false;
    std::string unwritten_;
    std::unique_ptr<EVP_MD_CTX, freer> digest_;

    void begin();
    void flush();
};

// `bytes_reader` returns what snapshot_bytes put, in the same order.
class bytes_reader {
public:
    // Ownership: the bytes outlive the reader.
    explicit bytes_reader(std::string_view bytes) : rest_(bytes) {}

    // Returns the next value. If the bytes end before it, returns zeros, and damaged() is true.
    template <typename T>
    T get()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        const std::string_view bytes = take(sizeof(T));
        std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }

    bool at_end() const { return rest_.empty(); }

    // True if something was asked for that is not there.
    bool damaged() const { return damaged_; }

    void call_damaged() { damaged_ = true; }

    std::string_view text() { return take(get<std::uint32_t>()); }

protected:
    std::string_view rest_;

private:
    bool damaged_ = false;

    std::string_view take(std::size_t count);
};

// `snapshot_reader` reads a file that was read whole and has its digest.
class snapshot_reader : public bytes_reader {
public:
    struct opened;

    static opened open(const std::string& path);

private:
    struct unmapper {
        std::size_t size = 0;
        void operator()(char* at) const;
    };

    explicit snapshot_reader(std::unique_ptr<char, unmapper> bytes);

    // Whole file. The digest at its end is no part of `rest_`.
    std::unique_ptr<char, unmapper> bytes_;
};

// `opened` is the outcome of open(). Both members are empty if there is no such file.
struct snapshot_reader::opened {
    std::optional<snapshot_reader> file{};
    // Reason why the file is of no use, as words that follow its name.
    std::string complaint{};
};

}  // namespace gateway::store
