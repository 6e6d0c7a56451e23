// `spares` keeps objects of one kind that nobody needs just now, and lends them again. The last one
// given back is lent first, as its memory is still warm.
// Ownership: the worker's.
// Thread: one thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace gateway::limits {

template <typename T>
class spares {
public:
    // Most objects kept after a trim. A rush may leave more until then.
    static constexpr std::size_t most = 1024;

    // Returns a kept object, or `make`() if there is none.
    template <typename Make>
    std::unique_ptr<T> borrow(Make make)
    {
        if (kept_.empty()) {
            return make();
        }
        std::unique_ptr<T> one = std::move(kept_.back());
        kept_.pop_back();
        return one;
    }

    // Takes `one` back; destroys nothing.
    void take_back(std::unique_ptr<T> one) { kept_.push_back(std::move(one)); }

    // Destroys the objects beyond `most`. Called on each tick.
    void trim() { kept_.resize(std::min(kept_.size(), most)); }

    void clear() { kept_.clear(); }

    template <typename Unwanted>
    void erase_if(Unwanted unwanted)
    {
        std::erase_if(kept_, [&unwanted](const auto& one) { return unwanted(*one); });
    }

private:
    std::vector<std::unique_ptr<T>> kept_;
};

}  // namespace gateway::limits
