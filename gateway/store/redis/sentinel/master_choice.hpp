// `master_choice` chooses the server to take for the master, by the sentinels' replies. Pure.
//
// A sentinel that was away may name a former master, and one that has just promoted a server is for
// a moment the only one to name it. Only the newest answer counts, therefore: each comes with the
// epoch of the sentinel's configuration, which every failover raises. A former master is not tried,
// even if the newest one cannot be reached from here. It may have come back without knowing yet
// that it was replaced, and its buckets are outdated.
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

// `sentinel_answer` is the answer of one sentinel.
struct sentinel_answer {
    // The master. Nothing: the sentinel named none, see `why`.
    std::optional<net::server_address> master;
    std::int64_t epoch = 0;
    // Replicas that the sentinel knows. Empty unless they were asked for.
    std::vector<net::server_address> replicas{};
    // Reason why it named no master. `config`: it knows none of that name.
    failure why = failure::unreachable;
    // Words of the sentinel, or of the system.
    std::string detail{};
};

// Encodes the commands that ask for the master, which are sent at once.
std::string encode_master_query(const sentinel_options& options);

// Encodes the command that asks for the master's replicas. replicas_in() reads them from the reply,
// and leaves out those that the sentinel finds down.
std::string encode_replicas_query(const sentinel_options& options);
std::vector<net::server_address> replicas_in(const redisReply& replicas);

// `master_answer` reads the replies to encode_master_query().
class master_answer {
public:
    explicit master_answer(const sentinel_options& options);

    bool done() const { return answered_ == replies_; }

    // Takes the next reply. If anything is wrong with it, answer() names no master.
    void accept(const reply& r);

    const sentinel_answer& answer() const { return answer_; }

private:
    std::string password_;
    std::size_t replies_;
    std::size_t answered_ = 0;
    bool refused_ = false;
    sentinel_answer answer_;

    void refuse(failure why, std::string detail);
    void read_address(const reply& r);
    void read_epoch(const reply& r);
};

// `naming` combines the replies of all sentinels.
struct naming {
    // Masters of the newest epoch, no two the same. Usually one. Empty: no sentinel named any.
    std::vector<net::server_address> masters;
    // Replicas that these sentinels know, no two the same.
    std::vector<net::server_address> replicas{};
    // Reason if `masters` is empty, and the same in words.
    failure why = failure::unreachable;
    std::string detail{};
};

// Combines the sentinels' answers. `answers[i]` is that of `options.sentinels[i]`, or nothing if it
// did not come in time.
naming masters_named(
    const sentinel_options& options, std::span<const std::optional<sentinel_answer>> answers
);

// Chooses which of the named servers to try: first those that were not tried since a server was
// accepted.
//
// A server that reports that it is no master is believed, as long as sentinels still name it. One
// of its replicas must have taken its place, so each is tried before it. The first one that turns
// out to be a master is accepted.
class master_choice {
public:
    // Requires: `named` has a master.
    net::server_address next(const naming& named);

    void accepted(const net::server_address& master);

    // Notes that this server has reported that it is no master.
    void denied(const net::server_address& master) { denied_ = master; }

    bool has_denied(const net::server_address& master) const { return denied_ == master; }

    // True if the sentinels' next answer should name replicas.
    bool wants_replicas() const { return denied_.has_value(); }

private:
    std::vector<net::server_address> tried_;
    // Named server that has reported that it is no master. Nothing: none has.
    std::optional<net::server_address> denied_;

    std::vector<net::server_address> candidates(const naming& named);
};

}  // namespace gateway::store::redis
