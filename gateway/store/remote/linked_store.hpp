// A shared store that is asked over links of one worker, each with its own conversation: questions
// travel together over a link, which connects and recovers by itself; a breaker stops the asking
// when the server fails, and probes it aside. See conversation_state.
//
// Any of its links reaches every bucket. A question goes over the one that the name of its first
// bucket chooses, so that those about one bucket are told together.
#pragma once

#include "gateway/store/remote/link.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <vector>

namespace gateway::store {

class linked_store final : public shared_store {
public:
    // At least one, which have been started.
    explicit linked_store(std::vector<std::shared_ptr<link>> links);

    // Abandons the questions still pending, without calling them, and closes.
    ~linked_store() override;
    linked_store(const linked_store&) = delete;
    linked_store& operator=(const linked_store&) = delete;

    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const override;
    bool take_leased(std::span<const charge> charges, answer& into) override;
    bool settle_up() override;
    std::optional<failure> ask(std::span<const charge> charges, question& q) override;
    void close() override;
    void retire() override;
    bool healthy() const override;

private:
    std::vector<std::shared_ptr<link>> links_;

    conversation_state& conversation_about(std::span<const charge> charges) const;
    void close_links(conversation_state::pending_ones what);
};

}  // namespace gateway::store
