// A real Redis Cluster of three masters, and a store in it.
#pragma once

#include "gateway/store/redis/cluster/slot.hpp"
#include "tests/contract/subjects.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace gateway::store::testing {

class redis_cluster {
public:
    redis_cluster()
    {
        constexpr std::size_t share = redis::slot_count / count + 1;
        for (std::size_t i = 0; i < count; ++i) {
            nodes_.emplace_back(
                std::vector<std::string>{"--cluster-enabled", "yes"},
                std::vector<std::string>{},
                free_pair()
            );
            const std::size_t end = std::min((i + 1) * share, redis::slot_count);
            expect(
                i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(i * share), std::to_string(end - 1)}
            );
            expect(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
            const std::string first = std::to_string(nodes_.front().port());
            expect(i, {"CLUSTER", "MEET", "127.0.0.1", first});
        }
        for (int tries = 0; tries < 2000 && !is_well(); ++tries) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }

    // One for all tests of the process that leave it as it was, without keys.
    static std::shared_ptr<redis_cluster> shared()
    {
        static const auto only = std::make_shared<redis_cluster>();
        only->flush();
        return only;
    }

    std::deque<redis_server>& nodes() { return nodes_; }

    void flush()
    {
        for (std::size_t i = 0; i < count; ++i) {
            expect(i, {"FLUSHALL"});
        }
    }

    // All keys of all nodes, each behind a space.
    std::string keys()
    {
        std::string all;
        for (redis_server& node : nodes_) {
            const std::string some = node.command({"KEYS", "*"});
            all += (some.empty() ? "" : " ") + some;
        }
        return all;
    }

    redis_options options(redis_options o) const
    {
        o.cluster = {{"127.0.0.1", std::to_string(nodes_.back().port()), {}}};
        return o;
    }

private:
    static constexpr std::size_t count = 3;

    std::deque<redis_server> nodes_;

    // Nodes speak to each other on the port 10,000 above; clients get none as low as both.
    static int free_pair()
    {
        static std::mt19937 random{std::random_device{}()};
        while (true) {
            const int port = std::uniform_int_distribution{10'000, 22'000}(random);
            if (is_free(port) && is_free(port + 10'000)) {
                return port;
            }
        }
    }

    static bool is_free(int port)
    {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
        ::close(fd);
        return free;
    }

    void expect(std::size_t node, const std::vector<std::string>& command)
    {
        EXPECT_EQ(nodes_[node].command(command), "OK") << command[1];
    }

    bool is_well() const
    {
        return std::all_of(nodes_.begin(), nodes_.end(), [](const redis_server& node) {
            const std::string info = node.command({"CLUSTER", "INFO"});
            return info.find("cluster_state:ok") != std::string::npos &&
                   info.find("cluster_known_nodes:3") != std::string::npos;
        });
    }
};

// With one client: all its buckets are in one slot, whatever they are called.
class cluster_subject : public shared_subject {
public:
    cluster_subject() : cluster_subject(redis_cluster::shared(), patient<redis_options>()) {}

    cluster_subject(std::shared_ptr<redis_cluster> cluster, const redis_options& options)
        : shared_subject(cluster->options(options)), cluster_(std::move(cluster))
    {}

    std::optional<answer> take(std::span<const charge> charges)
    {
        std::vector<charge> one_slot;
        for (charge c : charges) {
            const std::string_view name = c.bucket_name.bytes();
            c.limit_name = name;
            c.bucket_name = base::hashed_name{bytes_of(name)};
            one_slot.push_back(c);
        }
        return shared_subject::take(one_slot);
    }

    void correct(charge c, const limit::correction& what, const std::string& receipt)
    {
        c.may_be_corrected = true;
        c.correction = &what;
        c.receipt = receipt;
        EXPECT_TRUE(take({&c, 1}));
    }

    redis_cluster& cluster() { return *cluster_; }

private:
    std::shared_ptr<redis_cluster> cluster_;
    // What the hashed names are of.
    std::set<std::string> names_;

    // An identity::bucket_name of the limit by that name and a client who says nothing.
    std::string_view bytes_of(std::string_view limit_name)
    {
        std::string bytes(4, '\0');
        bytes[0] = static_cast<char>(limit_name.size());
        return *names_.insert(bytes.append(limit_name)).first;
    }
};

}  // namespace gateway::store::testing
