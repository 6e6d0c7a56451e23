// The commands sent and not answered yet, oldest first: replies come in this order. Bounded, and
// its places stay where they are, so questions can point at them.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gateway::store::redis {

struct sent_command {
    enum class kind : std::uint8_t {
        take,
        probe,
        load_script,
        overdue_probe,  // counted as failed already
    };

    question* asker = nullptr;  // of a take; null when it has been failed, or left
    std::string bytes;          // of a take, in case the server has forgotten the script
    base::instant asked{};
    base::instant deadline{};
    std::int64_t number = 0;  // of a take or probe
    std::uint8_t charges = 0;
    kind what = kind::take;
    bool sent_again = false;
};

class pending_commands {
public:
    explicit pending_commands(std::size_t capacity)
        : capacity_(capacity), places_(std::make_unique<sent_command[]>(capacity))
    {}

    bool empty() const { return count_ == 0; }

    bool full() const { return count_ == capacity_; }

    std::size_t size() const { return count_; }

    sent_command& operator[](std::size_t i) { return places_[place(i)]; }

    sent_command& front() { return places_[first_]; }

    // A new youngest one; only its `bytes` may hold something, and memory worth keeping.
    sent_command& push()
    {
        sent_command& youngest = places_[place(count_++)];
        youngest.asker = nullptr;
        youngest.bytes.clear();
        youngest.sent_again = false;
        return youngest;
    }

    void pop()
    {
        first_ = place(1);
        --count_;
    }

private:
    std::size_t capacity_;
    std::unique_ptr<sent_command[]> places_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;

    // Of the i-th oldest. A comparison, as a division by what is no constant would cost more.
    std::size_t place(std::size_t i) const
    {
        const std::size_t at = first_ + i;
        return at < capacity_ ? at : at - capacity_;
    }
};

}  // namespace gateway::store::redis
