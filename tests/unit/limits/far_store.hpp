// A shared store that a test answers for: what it is asked are corrections.
#pragma once

#include "gateway/store/remote/call.hpp"
#include "gateway/store/store.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gateway::limits::testing {

class far_store final : public store::shared_store {
public:
    bool well = false;
    // It is not even asked.
    bool refuses = false;
    // Of the corrections that it was asked for, in their order.
    std::vector<limit::correction> asked;
    std::vector<std::string> receipts;
    // Tokens that were charged, by the name of the bucket.
    std::map<std::string, std::int64_t> charged;

    bool recalls(std::span<const store::charge>, base::instant, store::answer&) const override
    {
        return false;
    }

    std::optional<store::failure> ask(std::span<const store::charge> charges, store::question& q)
        override
    {
        const store::charge& c = charges.front();
        asked.push_back(*c.correction);
        receipts.emplace_back(c.receipt);
        if (refuses) {
            return store::failure::unreachable;
        }
        if (c.correction->what == limit::correction::kind::charge) {
            charged[std::string{c.bucket_name.bytes()}] += c.correction->of.tokens;
        }
        places_.emplace_back().hold(q);
        return std::nullopt;
    }

    void answer_all()
    {
        end_all([](store::question& q) { q.answered({}); });
    }

    void fail_all()
    {
        end_all([](store::question& q) { q.failed(store::failure::timeout, store::taken::perhaps); }
        );
    }

    void close() override {}

    void retire() override {}

    bool healthy() const override { return well; }

private:
    std::list<store::pending_question> places_;

    template <typename End>
    void end_all(End end)
    {
        std::list<store::pending_question> ending;
        ending.swap(places_);
        for (store::pending_question& p : ending) {
            if (auto* const q = p.release()) {
                end(*q);
            }
        }
    }
};

}  // namespace gateway::limits::testing
