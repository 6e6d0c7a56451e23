// Which server to take for the master when sentinels are asked. Pure.
//
// A sentinel that was away may name a master of before, and one that has just made another server
// master is for a moment the only one to name it. So only the newest word counts: each comes with
// the epoch of the sentinel's configuration, which every failover raises. A master of before is not
// tried, also if the newest cannot be reached from here: it may have come back and not know yet
// that it was replaced, and its buckets are those of then.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/store.hpp"

#include <hiredis/hiredis.h>

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
    // The replicas that it knows; empty unless they were asked for.
    std::vector<net::server_address> replicas{};
    // `config`: it knows no master by that name.
    failure why = failure::unreachable;
    // What it or the system said.
    std::string detail{};
};

// Where the master is, sent at once.
std::string encode_master_question(const sentinel_options& options);

// Asks for the master's replicas, which replicas_in() reads from the reply. Those that the sentinel
// finds down are left out.
std::string encode_replicas_question(const sentinel_options& options);
std::vector<net::server_address> replicas_in(const redisReply& said);

// Reads the replies to encode_master_question().
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
    // The replicas that these sentinels know, no two the same.
    std::vector<net::server_address> replicas{};
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
//
// A server that says itself that it is no master is believed, while sentinels still name it. Then
// one of its replicas has its place, and each is tried before it: whichever turns out to be a
// master is the one.
class master_choice {
public:
    // Requires: `named` has a master.
    net::server_address next(const naming& named);

    void accepted(const net::server_address& master);

    // That server has said that it is no master.
    void denied(const net::server_address& master) { denied_ = master; }

    bool has_denied(const net::server_address& master) const { return denied_ == master; }

    // Replicas are wanted in the next answer of the sentinels.
    bool wants_replicas() const { return denied_.has_value(); }

private:
    std::vector<net::server_address> tried_;
    // Nothing: nobody that sentinels name has said so.
    std::optional<net::server_address> denied_;

    std::vector<net::server_address> candidates(const naming& named);
};

}  // namespace gateway::store::redis
