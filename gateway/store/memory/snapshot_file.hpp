// A file that keeps what the local store knew when it was written: for a process to be started
// later. Bytes of this machine's order, and at the end their SHA-256.
//
// It is written beside its place and renamed when it is whole, so that there is always one that can
// be read. Only its owner may read it: it has the key by which buckets are found.
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

// Why no snapshot can be kept there, as words that follow the path; nothing: one can.
std::optional<std::string> complaint_about_place(const std::string& path);

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
    // Nothing is written before finish() that anybody would read.
    explicit snapshot_writer(std::string path);

    // Into a file that is open, from its beginning, and stays open. It has no other name.
    explicit snapshot_writer(int file);

    // Without finish(): removes what was written.
    ~snapshot_writer();
    snapshot_writer(const snapshot_writer&) = delete;
    snapshot_writer& operator=(const snapshot_writer&) = delete;

    // What is not written in the end is told by finish().
    void put(std::string_view bytes);

    // It is the file from now on; or why it could not be written, and what was there before stays.
    std::optional<std::string> finish();

private:
    static constexpr std::size_t at_once = 1024 * 1024;

    struct freer {
        void operator()(EVP_MD_CTX* of) const;
    };

    // Empty: it was open already.
    std::string path_;
    std::string beside_;
    int file_;
    // Of the first call that failed.
    int error_ = 0;
    bool finished_ = false;
    std::string unwritten_;
    std::unique_ptr<EVP_MD_CTX, freer> digest_;

    void begin();
    void flush();
};

// Takes what snapshot_bytes put, in the same order.
class bytes_reader {
public:
    // Of bytes that outlive it.
    explicit bytes_reader(std::string_view bytes) : rest_(bytes) {}

    // All zeros, and damaged(), if the bytes end before it.
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

    // What was asked for is not there.
    bool damaged() const { return damaged_; }

    void call_damaged() { damaged_ = true; }

    std::string_view text() { return take(get<std::uint32_t>()); }

protected:
    std::string_view rest_;

private:
    bool damaged_ = false;

    std::string_view take(std::size_t count);
};

// A file that was read whole, and has its digest.
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

    // The digest is no part of the rest.
    std::unique_ptr<char, unmapper> bytes_;
};

// Neither: there is no such file.
struct snapshot_reader::opened {
    std::optional<snapshot_reader> file{};
    // Why it is of no use, as words that follow its name.
    std::string complaint{};
};

}  // namespace gateway::store
