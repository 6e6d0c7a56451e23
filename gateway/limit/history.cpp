#include "gateway/limit/history.hpp"

#include <algorithm>
#include <cassert>

namespace gateway::limit {

std::int64_t history::taken_at(std::int64_t n) const
{
    assert(n >= 1 && n <= used_);
    if (n == used_) {
        return newest();
    }
    const token_moment* m = moments_.all().data();
    for (std::int64_t seen = m->tokens; seen < n; seen += m->tokens) {
        ++m;
    }
    return m->at;
}

void history::forget(std::int64_t until)
{
    std::size_t returned = 0;
    for (const token_moment& m : moments_.all()) {
        if (m.at > until) {
            break;
        }
        used_ -= m.tokens;
        ++returned;
    }
    if (returned > 0) {
        moments_.pop_front(returned);
    }
}

void history::take(std::int64_t at, std::int64_t tokens, growth allowed)
{
    if (tokens == 0) {
        return;
    }
    used_ += tokens;
    const bool joins = size() > 0 && (moments_.all().back().at >= at ||
                                      (allowed == growth::none && moments_.is_full()));
    if (joins) {
        token_moment& newest = moments_.all().back();
        newest.at = std::max(newest.at, at);
        newest.tokens += tokens;
    } else {
        moments_.push_back({at, tokens});
    }
}

void history::refund(std::int64_t since, std::int64_t tokens)
{
    for (token_moment& m : moments_.all()) {
        if (m.at >= since && tokens > 0) {
            const std::int64_t given = std::min(tokens, m.tokens);
            m.tokens -= given;
            used_ -= given;
            tokens -= given;
        }
    }
    moments_.remove_empty();
}

}  // namespace gateway::limit
