// `linked_store` is a shared store that one worker asks over links, each with its own conversation.
// Questions travel together over a link, which connects and recovers by itself. A breaker stops the
// questions when the server fails, and probes it. See conversation_state.
//
// Any link reaches every bucket. The name of a question's first bucket chooses the link, so that
// questions about one bucket travel together.
#pragma once

#include "gateway/store/remote/link.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <vector>

namespace gateway::store {

class linked_store final : public shared_store {
public:
    // Requires: at least one link, and all have been started.
    explicit linked_store(std::vector<std::shared_ptr<link>> links);

    // Closes the links, and abandons pending questions without a call.
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
