// A limit as a person writes it, what is asked of it, and what is to be answered.
#pragma once

#include "gateway/limit/limit.hpp"
#include "gateway/limit/penalty.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gateway::store::testing {

// A limit as a person writes it.
struct spec {
    enum class kind { token_bucket, fixed_window, sliding, concurrency };

    kind what = kind::token_bucket;
    std::int64_t count = 1;
    base::duration period{0};
    // burst, capacity or max
    std::int64_t capacity = 1;
    // Parts of a window that slides; 0: a log.
    std::int64_t parts = 0;
    bool aligned = false;
    std::shared_ptr<const limit::calendar> dates = nullptr;

    limit::limit make() const
    {
        switch (what) {
            case kind::fixed_window:
                return limit::limit::in_windows({count, period, aligned, dates, capacity}).value();
            case kind::sliding:
                return limit::limit::sliding(count, period, parts).value();
            case kind::concurrency:
                return limit::limit::in_flight(capacity, period).value();
            case kind::token_bucket:
                break;
        }
        return limit::limit::make(count, period, capacity).value();
    }
};

// One charge of a question.
struct wish {
    int bucket = 0;
    const spec* limit = nullptr;
    std::int64_t cost = 1;
    bool enforced = true;
    // In ticks, 0: does not wait.
    std::int64_t max_wait = 0;
    std::int64_t max_reserved = 0;
    // Null: none.
    const limit::penalty* penalty = nullptr;
    std::int64_t permit = 0;
};

struct verdict {
    // Times in ticks.
    struct said {
        bool allowed = false;
        bool banned = false;
        std::int64_t remaining = 0;
        std::int64_t retry = 0;
        std::int64_t reset = 0;

        bool operator==(const said&) const = default;
    };

    bool admitted = true;
    std::vector<said> all;
};

}  // namespace gateway::store::testing
