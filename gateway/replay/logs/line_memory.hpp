// `line_memory` holds the bytes of lines, and what was read of them, where they stay until they are
// released, in any order. Its blocks are used again, so that a run over any number of lines
// allocates only at its beginning.
// Thread: one thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace gateway::replay {

class line_memory {
public:
    static constexpr std::size_t block_bytes = std::size_t{256} * 1024;

    // Most bytes that reserve() takes.
    static constexpr std::size_t most_bytes = block_bytes / 2;

    // `block` is memory for many lines.
    class block {
        friend class line_memory;
        // Number of lines that are kept here.
        std::size_t lines_ = 0;
        alignas(std::max_align_t) std::byte bytes_[block_bytes];
    };

    // Returns room for so many bytes, which stays the caller's if keep() is called next.
    // Requires: bytes <= most_bytes.
    std::byte* reserve(std::size_t bytes)
    {
        if (current_ == nullptr || block_bytes - used_ < bytes) {
            current_ = next_block();
            used_ = 0;
        }
        return current_->bytes_ + used_;
    }

    // Keeps the first bytes of what was reserved last, as one line. Returns its block.
    block* keep(std::size_t bytes)
    {
        constexpr std::size_t alignment = alignof(std::max_align_t);
        used_ += (bytes + alignment - 1) / alignment * alignment;
        ++current_->lines_;
        return current_;
    }

    // Returns the bytes of all blocks that hold a line.
    std::size_t bytes_in_use() const { return (all_.size() - spare_.size()) * block_bytes; }

    // Releases one line of the block.
    void release(block* of)
    {
        if (--of->lines_ > 0) {
            return;
        }
        if (of == current_) {
            used_ = 0;
        } else {
            spare_.push_back(of);
        }
    }

private:
    std::vector<std::unique_ptr<block>> all_;
    std::vector<block*> spare_;
    block* current_ = nullptr;
    std::size_t used_ = 0;

    block* next_block()
    {
        if (spare_.empty()) {
            // Not cleared, as the bytes are written before they are read.
            all_.push_back(std::unique_ptr<block>{new block});
            return all_.back().get();
        }
        block* const b = spare_.back();
        spare_.pop_back();
        return b;
    }
};

}  // namespace gateway::replay
