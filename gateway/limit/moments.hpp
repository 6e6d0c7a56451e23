// A queue of moments, each with tokens, in 56 bytes: a few of them in place, more in memory of its
// own. All zeros, as fresh memory is, it is an empty one.
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

    // The first `count` of them; at most all.
    void pop_front(std::size_t count);

    // Those without tokens.
    void remove_empty();

    // One more needs more memory.
    bool is_full() const
    {
        return room_ == 0 ? size_ == few : in_.own.first + size_ == room_ && in_.own.first < size_;
    }

    // What there is room for in memory of its own; 0: it has none.
    std::size_t own_room() const { return room_; }

private:
    static constexpr std::uint32_t few = 3;

    struct own_memory {
        token_moment* from;
        // Those before it have been popped.
        std::uint32_t first;
    };

    union place {
        token_moment few_moments[few];
        own_memory own;
    };

    place in_{};
    std::uint32_t size_ = 0;
    // Of its own memory; 0: the moments are in place.
    std::uint32_t room_ = 0;

    token_moment* begin() { return room_ == 0 ? in_.few_moments : in_.own.from + in_.own.first; }

    const token_moment* begin() const
    {
        return room_ == 0 ? in_.few_moments : in_.own.from + in_.own.first;
    }

    void move_to(std::uint32_t room);
};

}  // namespace gateway::limit
