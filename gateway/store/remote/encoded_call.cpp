#include "gateway/store/remote/encoded_call.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/store/remote/call_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace gateway::store {

void texts::add(std::int64_t n)
{
    std::array<char, 20> digits;
    add({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr});
}

namespace {

// True if the question is one charge of a token bucket, and nothing else.
bool is_simple(std::span<const charge> charges)
{
    const charge& c = charges.front();
    return charges.size() == 1 && c.correction == nullptr && c.penalty == nullptr && !c.looks &&
           c.max_wait == base::duration{0} && c.limit->in_microseconds().is_by_time();
}

// Returns the cost, but at most one token more than a full bucket. Any such cost is rejected, and
// this one is exact in the store, too.
std::int64_t cost_of(const charge& c)
{
    return std::min(c.cost, c.limit->burst() + 1);
}

constexpr std::int64_t flag_if(bool is_set, std::int64_t flag)
{
    return is_set ? flag : 0;
}

std::int64_t kind_of(const limit::correction& made)
{
    using kind = limit::correction::kind;
    constexpr auto last = static_cast<std::int64_t>(kind::unban);
    static_assert(call_flags::refund + last == call_flags::unban, "both have the same order");
    return call_flags::refund + static_cast<std::int64_t>(made.what);
}

std::int64_t number_in(std::int64_t number, const encoding_options& how)
{
    return how.epoch == epoch_keys::one ? number : -number;
}

void add_epoch(encoded_call& encoded, const encoding_options& how)
{
    if (how.epoch == epoch_keys::one) {
        encoded.keys.add(epoch_key(how.key_prefix));
    }
}

// `call_encoder` encodes the questions of one call, one after the other.
class call_encoder {
public:
    call_encoder(std::int64_t number, const encoding_options& how) : how_(how)
    {
        encoded_.numbers.push_back(number_in(number, how));
    }

    // Adds a question that is asked that many times in a row.
    void add(std::span<const charge> charges, std::size_t times)
    {
        const auto often = static_cast<std::int64_t>(times);
        if (how_.ones == grouping::together && is_simple(charges)) {
            add_simple(charges.front(), often);
            return;
        }
        end_simple();
        encoded_.shape.push_back({.times = often});
        add_number(often);
        add_number(static_cast<std::int64_t>(charges.size()));
        for (const charge& c : charges) {
            add_charge(c);
        }
    }

    encoded_call end()
    {
        end_simple();
        add_epoch(encoded_, how_);
        encoded_.numbers.push_back(static_cast<std::int64_t>(simple_limits_.size()));
        for (const limit::limit* l : simple_limits_) {
            encoded_.numbers.push_back(l->in_microseconds().interval);
            encoded_.numbers.push_back(l->burst());
        }
        encoded_.numbers.insert(encoded_.numbers.end(), numbers_.begin(), numbers_.end());
        return std::move(encoded_);
    }

private:
    encoding_options how_;
    encoded_call encoded_;
    // Numbers of the questions, which follow the limits of simple ones.
    std::vector<std::int64_t> numbers_;
    // Limits of simple questions, each once.
    std::vector<const limit::limit*> simple_limits_;
    // Simple questions that came last, whose numbers are still to be added.
    simple_charges simple_;
    const limit::limit* simple_limit_ = nullptr;

    void add_number(std::int64_t n) { numbers_.push_back(n); }

    void add_simple(const charge& c, std::int64_t times)
    {
        // No bucket may come twice among these, unless its question never passes: take.lua reads
        // all of them before it writes any. Questions to one bucket that fit here ask the same, and
        // bring_together() has made them neighbors.
        const bool fits = simple_.keys > 0 && simple_limit_ == c.limit && simple_.times == times &&
                          simple_.enforced == c.enforced && simple_.cost == cost_of(c);
        if (!fits) {
            end_simple();
            simple_limit_ = c.limit;
            simple_ = {
                .times = times,
                .enforced = c.enforced,
                .cost = cost_of(c),
                .interval = c.limit->in_microseconds().interval,
                .burst = c.limit->burst()};
        }
        encoded_.keys.add(key_of(how_.key_prefix, c));
        ++simple_.keys;
    }

    void end_simple()
    {
        if (simple_.keys > 0) {
            add_number(simple_.times);
            add_number(0);
            add_number(simple_.cost);
            add_number(number_of(*simple_limit_));
            add_number(simple_.keys);
            encoded_.shape.push_back(simple_);
        }
        simple_.keys = 0;
    }

    // Returns the number of a limit in the call, from 1.
    std::int64_t number_of(const limit::limit& l)
    {
        const auto found = std::find(simple_limits_.begin(), simple_limits_.end(), &l);
        const auto number = found - simple_limits_.begin() + 1;
        if (found == simple_limits_.end()) {
            simple_limits_.push_back(&l);
        }
        return number;
    }

    void add_charge(const charge& c)
    {
        encoded_.keys.add(key_of(how_.key_prefix, c));
        if (c.correction != nullptr) {
            add_correction(c);
        } else {
            add_number(cost_of(c));
            add_kind(c);
        }
        c.limit->append_numbers(numbers_, how_.unix_now);
        if (c.limit->counts_in_flight()) {
            add_number(c.permit);
        }
        add_penalty(c);
    }

    void add_penalty(const charge& c)
    {
        if (c.penalty == nullptr) {
            return;
        }
        using std::chrono::microseconds;
        const limit::penalty& p = *c.penalty;
        encoded_.keys.add(ban_key_of(key_of(how_.key_prefix, c)));
        add_number(p.after);
        add_number(p.within / microseconds{1});
        add_number(p.ban / microseconds{1});
        add_number(p.max_ban / microseconds{1});
    }

    void add_kind(const charge& c)
    {
        const bool waits = c.max_wait > base::duration{0};
        add_number(
            flag_if(c.enforced, call_flags::enforced) + flag_if(waits, call_flags::may_wait) +
            flag_if(c.penalty != nullptr, call_flags::has_penalty) +
            flag_if(c.looks, call_flags::looks)
        );
        if (waits) {
            add_number(c.max_wait / std::chrono::microseconds{1});
            add_number(c.max_reserved);
        }
    }

    void add_correction(const charge& c)
    {
        if (!c.receipt.empty()) {
            encoded_.keys.add(std::string{how_.key_prefix}.append("correction:").append(c.receipt));
        }
        const limit::correction& made = *c.correction;
        add_number(made.of.tokens);
        add_number(
            kind_of(made) + flag_if(c.penalty != nullptr, call_flags::has_penalty) +
            flag_if(c.is_grant, call_flags::is_grant) +
            flag_if(made.grant_epoch.has_value(), call_flags::of_lease) +
            flag_if(made.in_line, call_flags::in_line)
        );
        add_number(made.of.held);
        const bool adds = made.what == limit::correction::kind::charge;
        add_number(adds ? (made.into_debt ? 0 : 1) : made.of.owed_before);
        if (made.grant_epoch) {
            add_number(*made.grant_epoch);
        }
    }
};

}  // namespace

// Only the first of several questions in a row that ask the same is encoded.
encoded_call encode(
    std::int64_t number,
    std::span<const pending_question* const> questions,
    const encoding_options& how
)
{
    call_encoder words{number, how};
    for (auto first = questions.begin(); first != questions.end();) {
        const auto other = [&first](const pending_question* q) {
            return !ask_the_same(*q, **first);
        };
        const auto end = std::find_if(std::next(first), questions.end(), other);
        words.add((*first)->charges, static_cast<std::size_t>(end - first));
        first = end;
    }
    return words.end();
}

encoded_call encode(const call& c, const encoding_options& how)
{
    std::array<const pending_question*, call::max_questions> all{};
    const auto questions = c.all();
    std::transform(questions.begin(), questions.end(), all.begin(), [](const pending_question& q) {
        return &q;
    });
    return encode(c.number, std::span{all}.first(questions.size()), how);
}

encoded_call encode_probe(std::int64_t number, const encoding_options& how)
{
    encoded_call encoded;
    encoded.keys.add(std::string{how.key_prefix} + "probe");
    add_epoch(encoded, how);
    // The bucket gets a token per microsecond, and holds a thousand at most. It is never rejected,
    // and forgotten at once.
    encoded.numbers = {number_in(number, how), 1, 1, 1000, 1, 0, 1, 1, 1};
    encoded.shape = {
        {.times = 1, .enforced = true, .cost = 1, .interval = 1, .burst = 1000, .keys = 1}};
    return encoded;
}

std::string epoch_key(std::string_view key_prefix)
{
    return std::string{key_prefix} + "grant";
}

std::string key_of(std::string_view key_prefix, const charge& c)
{
    std::string key;
    key.append(key_prefix).append(c.limit_name).append(":");
    return key.append(base::sha256_hex128(c.bucket_name.bytes()));
}

std::string ban_key_of(std::string bucket_key)
{
    bucket_key += ":ban";
    return bucket_key;
}

}  // namespace gateway::store
