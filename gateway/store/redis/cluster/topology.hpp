// `topology` asks the nodes of a cluster which of them has which slots: at the beginning, and while
// there is doubt, one node after the other, at most a few times a second.
// Thread: its executor's.
// Ownership: held by shared_ptr, as its coroutine may end after cancel().
#pragma once

#include "gateway/net/connector.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/redis/cluster/slot_map.hpp"
#include "gateway/store/redis/protocol/dialogue.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/server_tls.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gateway::store::redis {

// `map_answer` is the answer of one node: a map, or the reason in `why` if there is none.
struct map_answer {
    std::optional<slot_map> map;
    failure why = failure::unreachable;
    // Words of the node or of the system.
    std::string detail{};
};

class topology {
public:
    // `listener` gets what a topology hears.
    class listener {
    public:
        virtual void heard(const slot_map& map) = 0;
        // Reports that no known node answers.
        virtual void unknown(failure why, std::string detail) = 0;
        // Returns the nodes to ask, the best first; never none.
        virtual std::vector<net::server_address> nodes() const = 0;
        // True if the topology is to go on asking.
        virtual bool in_doubt() const = 0;

    protected:
        ~listener() = default;
    };

    // `limit` bounds connecting to a node, and each answer.
    // Ownership: `to` stays until cancel().
    static std::shared_ptr<topology> start(
        const net::executor& executor,
        const redis_options& options,
        base::duration limit,
        listener& to
    );

    topology(
        const net::executor& executor,
        const redis_options& options,
        base::duration limit,
        listener& to
    );
    topology(const topology&) = delete;
    topology& operator=(const topology&) = delete;

    // Notes that there is doubt, so that nodes are asked soon.
    void doubt();

    void cancel();

private:
    redis_options options_;
    base::duration limit_;
    listener& to_;
    net::executor executor_;
    // Connector to the node that was asked last.
    std::optional<net::connector> connector_;
    dialogue words_;
    server_tls tls_;
    net::timer rest_timer_;
    std::minstd_rand random_;
    bool doubted_ = false;
    bool cancelled_ = false;

    net::task<> run(std::shared_ptr<topology> self);
    net::task<> ask_all();
    net::task<map_answer> ask(net::server_address node);
};

// Asks one node over that dialogue.
// Requires: the dialogue has begun.
net::task<map_answer> read_slots(
    dialogue& words, const redis_options& options, base::duration limit, net::server_address asked
);

}  // namespace gateway::store::redis
