// One slice of load on one proxy: warm up, measure, let the answers under way arrive.
#pragma once

#include "attack.hpp"
#include "client.hpp"
#include "usage.hpp"
#include <cstdint>
#include <random>
#include <vector>

namespace bench {

struct load_options {
    nanoseconds warm_up{60'000'000};
    nanoseconds measured{300'000'000};
    double rate = 0;         // requests per second; 0: each client asks again when answered
    std::uint32_t keys = 1;  // distinct client addresses
    attack* beside = nullptr;
};

struct measurement {
    usage used;
    std::uint64_t allowed = 0;             // 2xx
    std::uint64_t rejected = 0;            // 429
    std::uint64_t failed = 0;              // anything else
    std::vector<std::uint32_t> latencies;  // ns

    [[nodiscard]] std::uint64_t requests() const { return allowed + rejected + failed; }
};

class slice final : public answer_listener {
public:
    slice(loop& in, std::vector<client*> clients, std::vector<pid_t> processes, load_options);

    // Blocks for the slice's time, until its first answer at least, and until the answers under way
    // are here.
    measurement run();

    void answered(client& who, int status) override;

private:
    enum class phase { warming, measuring, ending };

    void ask(client& who, std::uint64_t since);
    nanoseconds ask_due(std::uint64_t time);  // open loop; returns how long until the next is due
    void advance(std::uint64_t time);

    loop& loop_;
    std::vector<client*> idle_;
    std::vector<pid_t> processes_;
    load_options options_;
    phase phase_ = phase::warming;
    std::uint64_t begin_ = now();
    std::uint64_t scheduled_ = 0;  // requests of the open loop so far
    std::uint64_t under_way_ = 0;
    measurement result_;
    std::minstd_rand random_{1};
};

}  // namespace bench
