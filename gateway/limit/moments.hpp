// `moment_queue` is a queue of moments, each with tokens, in 56 bytes. A few moments are stored in
// place, more in memory of its own. An object of zero bytes, as fresh memory is, is an empty queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::limit {

struct token_moment {
    std::int64_t at;
    std::int64_t tokens;
};

class moment_queue {
public:
    moment_queue() = default;
    ~moment_queue();
    moment_queue(const moment_queue& other);
    moment_queue(moment_queue&& other) noexcept;
    moment_queue& operator=(moment_queue other) noexcept;

    std::span<token_moment> all() { return {begin(), size_}; }

    std::span<const token_moment> all() const { return {begin(), size_}; }

    void push_back(const token_moment& m);

    // Removes the first `count` moments.
    // Requires: count <= all().size().
    void pop_front(std::size_t count);

    // Removes the moments that have no tokens.
    void remove_empty();

    // True if one more moment needs more memory.
    bool is_full() const
    {
        return room_ == 0 ? size_ == few : in_.own.first + size_ == room_ && in_.own.first < size_;
    }

    // Returns the number of moments that fit in its own memory, or 0 if it has none.
    std::size_t own_room() const { return room_; }

private:
    static constexpr std::uint32_t few = 3;

    struct own_memory {
        token_moment* from;
        // Index of the first moment that has not been popped.
        std::uint32_t first;
    };

    union place {
        token_moment few_moments[few];
        own_memory own;
    };

    place in_{};
    std::uint32_t size_ = 0;
    // Capacity of its own memory, in moments. 0: the moments are stored in place.
    std::uint32_t room_ = 0;

    token_moment* begin() { return room_ == 0 ? in_.few_moments : in_.own.from + in_.own.first; }

    const token_moment* begin() const
    {
        return room_ == 0 ? in_.few_moments : in_.own.from + in_.own.first;
    }

    void move_to(std::uint32_t room);
};

}  // namespace gateway::limit
