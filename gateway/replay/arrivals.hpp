// `arrivals` keeps when requests came to each bucket of one limit and what they cost, for
// suggestions. They lie in a temporary file without a name, so that memory holds the buckets only.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <vector>

namespace gateway::replay {

struct arrival {
    // Index of the bucket, from 0.
    std::uint32_t bucket = 0;
    std::uint32_t cost = 0;
    // Unix time in nanoseconds.
    std::int64_t at = 0;
};

class arrivals {
public:
    // Most arrivals that are sorted in memory at a time. Those of one bucket are in order already,
    // and are copied from file to file, however many there are.
    static constexpr std::size_t most_in_memory = std::size_t{1} << 20;

    // Keeps the arrivals of at most so many buckets. Those of others are left out.
    explicit arrivals(std::size_t most_buckets) : most_buckets_(most_buckets) {}

    void add(const base::hash128& bucket, base::duration at, std::int64_t cost);

    // Sorts the arrivals by buckets. Those of one bucket stay in order.
    // Errors: returns false if there is no room for temporary files.
    [[nodiscard]] bool sort();

    // Calls `each` with every arrival, in the order of sort(). May be called again.
    template <typename Each>
    void for_each(Each each)
    {
        std::rewind(file_.get());
        std::vector<arrival> chunk(chunk_arrivals);
        while (const std::size_t n =
                   std::fread(chunk.data(), sizeof(arrival), chunk.size(), file_.get())) {
            for (std::size_t i = 0; i < n; ++i) {
                each(chunk[i]);
            }
        }
    }

    std::uint64_t size() const { return size_; }

    std::size_t buckets() const { return tokens_.size(); }

    // Returns the tokens that the requests of the bucket with the most cost together.
    std::int64_t most_tokens() const;

    // Returns the time from the first to the last arrival.
    base::duration span() const { return base::duration{last_ - first_}; }

    // True if arrivals were left out.
    bool is_partial() const { return partial_; }

private:
    struct closing {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };

    using file = std::unique_ptr<std::FILE, closing>;

    static constexpr std::size_t chunk_arrivals = 16'384;

    std::size_t most_buckets_;
    std::unordered_map<base::hash128, std::uint32_t, base::hash128_hash> indices_;
    // Number of arrivals at each bucket, and the tokens that they cost together.
    std::vector<std::uint32_t> counts_;
    std::vector<std::int64_t> tokens_;
    std::uint64_t size_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    bool partial_ = false;
    file file_;
    // False once something could not be written.
    bool good_ = true;

    bool copy_bucket(std::uint32_t bucket, std::FILE* into);
    bool sort_part(std::uint32_t from, std::uint32_t to, std::FILE* into);
};

}  // namespace gateway::replay
