// `call_parts` is a call to a node of a cluster in parts, one for each client that it asks about,
// as a script reaches the keys of one slot only. Each part has a reply of its own, from whichever
// node has the slot by then. Together they are the results of the call. Pure.
#pragma once

#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/remote/call.hpp"
#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/reply_parser.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::store::redis {

class call_parts final : public call_results {
public:
    // Begins with that call, and forgets the one before.
    void begin(const call& c);

    // Number of the call, or 0 if there is none.
    std::int64_t number() const { return number_; }

    void end() { number_ = 0; }

    std::size_t count() const { return parts_.size(); }

    std::string_view tag(std::size_t index) const { return parts_[index].tag; }

    std::span<const pending_question* const> questions(std::size_t index) const
    {
        return parts_[index].questions;
    }

    // Stores the questions of a part that has been encoded.
    void encoded(std::size_t index, std::vector<simple_charges> shape)
    {
        parts_[index].shape = std::move(shape);
    }

    // Takes the reply to that part. Returns false if it is not one.
    bool answered(std::size_t index, const reply& r);
    void failed(std::size_t index, failure why, taken tokens);

    // True if all parts have been answered or have failed.
    bool complete() const { return open_ == 0; }

    // Returns why all parts have failed, by the first of them, or nothing if some have not.
    std::optional<failure> failed_all() const;
    // Returns what became of the tokens of all parts.
    // Requires: all parts have failed.
    taken tokens_of_all() const;

    kind next(std::size_t charges, answer& into) override;

    failure why() const override { return why_; }

    taken tokens() const override { return tokens_; }

    bool ended() const override;

    // Always 0: no key of a cluster is on all nodes, so grants are not reported.
    std::int64_t grant_epoch() const override { return 0; }

private:
    struct part {
        std::string tag{};
        // Questions of the part, valid while the call is being encoded.
        std::vector<const pending_question*> questions{};
        // Questions as encoded, by which the reply is parsed.
        std::vector<simple_charges> shape{};
        bool open = true;
        std::optional<failure> why{};
        taken tokens = taken::no;
        std::vector<std::int64_t> integers{};
        std::optional<reply_parser> results{};
    };

    std::int64_t number_ = 0;
    std::vector<part> parts_;
    // Index of the part that each question is in.
    std::array<std::uint8_t, call::max_questions> part_of_{};
    std::size_t open_ = 0;
    std::size_t next_ = 0;
    failure why_ = failure::corrupt;
    taken tokens_ = taken::no;

    // Returns a part and marks it as settled, or null if it is settled already.
    part* open_part(std::size_t index);
};

}  // namespace gateway::store::redis
