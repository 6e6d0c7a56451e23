// Random questions about random descriptors are decided as by plain buckets, one number each.
#include "tests/unit/limits/descriptor_fixture.hpp"

#include <random>

namespace gateway::limits {
namespace descriptors_property_test {

using namespace testing;

// The plain machine: when a bucket is full again, in ns. A token takes a minute.
class plain_buckets {
public:
    struct bucket {
        std::int64_t full_at = 0;
    };

    static constexpr std::int64_t minute = 60'000'000'000;

    bool take(const std::string& name, std::int64_t burst, std::uint64_t cost, std::int64_t now)
    {
        std::int64_t& full_at = buckets_[name].full_at;
        if (cost > static_cast<std::uint64_t>(burst)) {
            return false;
        }
        const std::int64_t next = std::max(full_at, now) + static_cast<std::int64_t>(cost) * minute;
        if (next > now + burst * minute) {
            return false;
        }
        full_at = next;
        return true;
    }

    std::int64_t left(const std::string& name, std::int64_t burst, std::int64_t now)
    {
        return (now + burst * minute - std::max(buckets_[name].full_at, now)) / minute;
    }

private:
    std::map<std::string, bucket> buckets_;
};

struct asked {
    std::string key;
    std::string value;
    std::optional<std::uint64_t> hits;
};

class properties : public descriptors {
protected:
    std::mt19937_64 random{7};
    const std::map<std::string, std::int64_t> bursts{{"a", 3}, {"b", 7}, {"c", 20}};
    plain_buckets model;

    std::int64_t now() const { return clock.now().time_since_epoch().count(); }

    asked any_descriptor()
    {
        const char* const keys[] = {"a", "b", "c", "none"};
        asked d{keys[random() % 4], std::to_string(random() % 3), std::nullopt};
        if (random() % 3 == 0) {
            d.hits = random() % 6;
        }
        return d;
    }

    // Compares the answer with what plain buckets say, and has them follow it.
    void compare(const std::vector<asked>& all, std::uint32_t addend, const read_answer& answer)
    {
        ASSERT_EQ(answer.statuses.size(), all.size());
        plain_buckets after = model;
        bool allowed = true;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const asked& d = all[i];
            const auto burst = bursts.find(d.key);
            bool passes = true;
            if (burst != bursts.end()) {
                const std::uint64_t cost = d.hits.value_or(addend == 0 ? 1 : addend);
                passes = after.take(d.key + d.value, burst->second, cost, now());
            }
            allowed = allowed && passes;
            ASSERT_EQ(answer.statuses[i].verdict, passes ? code::ok : code::over_limit);
        }
        ASSERT_EQ(answer.overall, allowed ? code::ok : code::over_limit);
        if (allowed) {
            model = after;
        }
    }

    void compare_what_is_left()
    {
        for (const auto& [key, burst] : bursts) {
            for (const char* const value : {"0", "1", "2"}) {
                const auto look = ask(descriptor(key, value, text(3, "")));
                ASSERT_EQ(look.statuses[0].remaining, model.left(key + value, burst, now()));
            }
        }
    }
};

TEST_F(properties, questions_are_decided_as_by_plain_buckets)
{
    for (const auto& [key, burst] : bursts) {
        add(key, burst);
    }
    for (int i = 0; i < 3000; ++i) {
        std::vector<asked> all(1 + random() % 5);
        std::generate(all.begin(), all.end(), [this] { return any_descriptor(); });
        const auto addend = static_cast<std::uint32_t>(random() % 4);
        std::string message;
        for (const asked& d : all) {
            const std::string hits = d.hits ? text(3, number(1, *d.hits)) : "";
            message += descriptor(d.key, d.value, hits);
        }
        compare(all, addend, ask(message + number(3, addend)));
        ASSERT_FALSE(HasFatalFailure()) << i;
        if (i % 16 == 0) {
            compare_what_is_left();
            ASSERT_FALSE(HasFatalFailure()) << i;
        }
        clock.set(clock.now() + std::chrono::seconds{random() % 40});
    }
}

}  // namespace descriptors_property_test
}  // namespace gateway::limits
