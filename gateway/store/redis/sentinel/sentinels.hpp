// `sentinels` asks all sentinels at once where their master is, and which replicas it has. It makes
// one query at a time.
// Thread: its executor's.
// Ownership: held by shared_ptr, as sentinels may answer after cancel().
#pragma once

#include "gateway/net/connector.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/redis/protocol/dialogue.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/server_tls.hpp"
#include "gateway/store/redis/sentinel/master_choice.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::store::redis {

class sentinels {
public:
    enum class with_replicas { no, yes };

    // Time that the others have to answer when one has named a master.
    static constexpr base::duration patience = std::chrono::milliseconds{100};

    // `limit` is the time in which a sentinel must accept a connection, and again that in which it
    // must answer.
    static std::shared_ptr<sentinels> make(
        const net::executor& executor, const redis_options& options, base::duration limit
    );

    sentinels(const net::executor& executor, const redis_options& options, base::duration limit);
    sentinels(const sentinels&) = delete;
    sentinels& operator=(const sentinels&) = delete;

    net::task<naming> ask(with_replicas replicas = with_replicas::no);

    // Ends the present query, and allows no other.
    void cancel();

private:
    struct sentinel {
        net::connector connector;
        dialogue words;
        server_tls tls;
        // True while the sentinel is asked. One that is slow does not get the next query
        // meanwhile.
        bool busy = false;

        sentinel(
            const net::executor& executor,
            const net::server_address& at,
            const redis_options& options,
            base::duration limit
        )
            : connector(executor, at, limit), words(executor), tls(options.tls)
        {}
    };

    std::weak_ptr<sentinels> self_;
    net::executor executor_;
    sentinel_options options_;
    base::duration limit_;
    std::deque<sentinel> all_;
    // `yes`: the present query asks for replicas, too.
    with_replicas replicas_ = with_replicas::no;
    // Answers to the present query, one for each sentinel.
    std::vector<std::optional<sentinel_answer>> answers_;
    // Time when the present query ends, even if some have not answered.
    base::instant until_{};
    net::timer wait_;
    bool cancelled_ = false;

    net::task<> ask_one(std::shared_ptr<sentinels> self, std::size_t index);
    net::task<sentinel_answer> answer_of(sentinel& one);
    net::task<std::vector<net::server_address>> replicas_of(sentinel& one);
    void heard(std::size_t index, sentinel_answer answer);
    bool all_answered() const;
};

}  // namespace gateway::store::redis
