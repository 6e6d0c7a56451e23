// Which server to take for the master when sentinels are asked. Pure.
//
// A sentinel that was away may name a master of before, and one that has just made another server
// master is for a moment the only one to name it. So only the newest word counts: each comes with
// the epoch of the sentinel's configuration, which every failover raises. A master of before is not
// tried, also if the newest cannot be reached from here: it may have come back and not know yet
// that it was replaced, and its buckets are those of then.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/redis/options.hpp"
#include "gateway/store/redis/reply.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gateway::store::redis {

// What one sentinel said.
struct sentinel_word {
    // Nothing: it named no master, see `why`.
    std::optional<net::server_address> master;
    std::int64_t epoch = 0;
    // `config`: it knows no master by that name.
    failure why = failure::unreachable;
    // What it or the system said.
    std::string detail{};
};

// Where the master is, sent at once.
std::string encode_master_question(const sentinel_options& options);

// Reads the replies to that.
class master_answer {
public:
    explicit master_answer(const sentinel_options& options);

    bool done() const { return answered_ == replies_; }

    // The next reply. Whatever is wrong with it makes the word one that names no master.
    void accept(const reply& r);

    const sentinel_word& word() const { return word_; }

private:
    std::string password_;
    std::size_t replies_;
    std::size_t answered_ = 0;
    bool refused_ = false;
    sentinel_word word_;

    void refuse(failure why, std::string detail);
    void read_address(const reply& r);
    void read_epoch(const reply& r);
};

// What all that were asked said together.
struct naming {
    // Of the newest epoch, no two the same: usually one; empty: nobody named one.
    std::vector<net::server_address> masters;
    // If it is empty: why, in words.
    failure why = failure::unreachable;
    std::string detail{};
};

// `words[i]` is what `options.sentinels[i]` said; nothing: it has not spoken in time.
naming masters_named(
    const sentinel_options& options, std::span<const std::optional<sentinel_word>> words
);

// Of those that sentinels name, the one to try: first those that were not tried since a server was
// accepted.
class master_choice {
public:
    // `masters` is not empty.
    const net::server_address& next(const std::vector<net::server_address>& masters);

    void accepted() { tried_.clear(); }

private:
    std::vector<net::server_address> tried_;
};

}  // namespace gateway::store::redis
