#include "gateway/store/redis/cluster/call_parts.hpp"

#include "gateway/store/redis/cluster/slot.hpp"

#include <algorithm>
#include <utility>

namespace gateway::store::redis {

void call_parts::begin(const call& c)
{
    number_ = c.number;
    parts_.clear();
    next_ = 0;
    const auto all = c.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::string tag = tag_of(all[i].charges.front());
        const auto same = [&tag](const part& p) { return p.tag == tag; };
        auto found = std::find_if(parts_.begin(), parts_.end(), same);
        if (found == parts_.end()) {
            found = parts_.insert(parts_.end(), part{.tag = std::move(tag)});
        }
        found->questions.push_back(&all[i]);
        part_of_[i] = static_cast<std::uint8_t>(found - parts_.begin());
    }
    open_ = parts_.size();
}

call_parts::part* call_parts::open_part(std::size_t index)
{
    if (!parts_[index].open) {
        return nullptr;
    }
    parts_[index].open = false;
    --open_;
    return &parts_[index];
}

bool call_parts::answered(std::size_t index, const reply& r)
{
    if (call_number(r) != -number_) {
        return false;
    }
    if (part* const p = open_part(index); p != nullptr) {
        p->integers.assign(r.all().begin(), r.all().end());
        p->results.emplace(p->integers, p->shape);
    }
    return true;
}

void call_parts::failed(std::size_t index, failure why, taken tokens)
{
    if (part* const p = open_part(index); p != nullptr) {
        p->why = why;
        p->tokens = tokens;
    }
}

std::optional<failure> call_parts::failed_all() const
{
    const auto failed = [](const part& p) { return p.why.has_value(); };
    const bool all = std::all_of(parts_.begin(), parts_.end(), failed);
    return all ? parts_.front().why : std::nullopt;
}

taken call_parts::tokens_of_all() const
{
    const auto untouched = [](const part& p) { return p.tokens == taken::no; };
    return std::all_of(parts_.begin(), parts_.end(), untouched) ? taken::no : taken::perhaps;
}

call_results::kind call_parts::next(std::size_t charges, answer& into)
{
    part& p = parts_[part_of_[next_++]];
    if (p.why) {
        why_ = *p.why;
        tokens_ = p.tokens;
        return kind::failed;
    }
    return p.results->next(charges, into);
}

bool call_parts::ended() const
{
    const auto ended = [](const part& p) { return p.why || p.results->ended(); };
    return std::all_of(parts_.begin(), parts_.end(), ended);
}

}  // namespace gateway::store::redis
