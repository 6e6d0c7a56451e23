// Remembers the answer that was put together last. A client that does not slow down gets the same
// 429 again and again, as do all that have to wait as long under the same limit: in a flood of them
// a rejection costs a comparison and a copy. Belongs to one thread.
#pragma once

#include "gateway/http/own_answer.hpp"

namespace gateway::http {

class own_answers {
public:
    // As append_own_answer().
    std::size_t append(const own_answer& answer, std::string& out);

private:
    // What the text depends on, if it says at most one limit and nothing extra.
    struct ingredients {
        // 0: of no answer yet.
        int status = 0;
        bool close = false;
        bool keep_alive_1_0 = false;
        bool head_only = false;
        bool allowed = false;
        limit_header_options options{};
        std::int64_t burst = 0;
        std::int64_t capacity = 0;
        std::int64_t remaining = 0;
        std::int64_t reset = 0;        // seconds
        std::int64_t reset_at = 0;     // seconds, with reset_as_epoch
        std::int64_t retry_after = 0;  // seconds

        bool operator==(const ingredients&) const = default;
    };

    struct texts {
        std::string detail;
        std::string date;
        std::string limit;

        bool are_of(const own_answer& answer) const;
    };

    ingredients ingredients_;
    texts texts_;
    std::string answer_;
    std::size_t content_ = 0;

    static ingredients ingredients_of(const own_answer& answer);
};

}  // namespace gateway::http
