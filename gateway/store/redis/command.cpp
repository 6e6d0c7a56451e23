#include "gateway/store/redis/command.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/store/redis/scripts.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <new>
#include <vector>

namespace gateway::store::redis {

namespace {

// Texts in one piece of memory, which moves as it grows: to be read when all are there.
class texts {
public:
    void add(std::string_view text) { end(bytes_.append(text).size()); }

    void add(std::int64_t n)
    {
        std::array<char, 20> digits;
        add({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr});
    }

    std::size_t size() const { return ends_.size(); }

    void append_to(std::vector<std::string_view>& words) const
    {
        std::size_t from = 0;
        for (const std::size_t end : ends_) {
            words.push_back(std::string_view{bytes_}.substr(from, end - from));
            from = end;
        }
    }

private:
    std::string bytes_;
    std::vector<std::size_t> ends_;

    void end(std::size_t at) { ends_.push_back(at); }
};

bool same(const charge& a, const charge& b)
{
    return a.correction == nullptr && b.correction == nullptr && a.limit == b.limit &&
           a.cost == b.cost && a.enforced == b.enforced && a.max_wait == b.max_wait &&
           a.max_reserved == b.max_reserved && a.penalty == b.penalty && a.place == b.place &&
           a.bucket_name.bytes() == b.bucket_name.bytes() && a.limit_name == b.limit_name;
}

bool same(const pending_question& a, const pending_question& b)
{
    return std::equal(
        a.charges.begin(),
        a.charges.end(),
        b.charges.begin(),
        b.charges.end(),
        [](const charge& x, const charge& y) { return same(x, y); }
    );
}

std::string gift_key(std::string_view key_prefix)
{
    return std::string{key_prefix} + "gift";
}

// One charge of a token bucket, and nothing else to it.
bool is_usual(std::span<const charge> charges)
{
    const charge& c = charges.front();
    return charges.size() == 1 && c.correction == nullptr && c.penalty == nullptr &&
           c.max_wait == base::duration{0} && c.limit->how() == limit::supply_kind::line;
}

// More than a full bucket is rejected whatever the number; this one is exact there, too.
std::int64_t cost_of(const charge& c)
{
    return std::min(c.cost, c.limit->burst() + 1);
}

// The words of one call.
class take_words {
public:
    take_words(std::int64_t number, base::duration unix_now) : unix_now_(unix_now)
    {
        head_.add(number);
    }

    // So many times in a row.
    void add(std::span<const charge> charges, std::size_t times, std::string_view key_prefix)
    {
        const auto often = static_cast<std::int64_t>(times);
        if (is_usual(charges)) {
            const charge& c = charges.front();
            add_usual({often, c.enforced ? 0 : -1, cost_of(c), number_of(*c.limit)});
            keys_.add(key_of(key_prefix, c));
            return;
        }
        end_usual();
        arguments_.add(often);
        arguments_.add(static_cast<std::int64_t>(charges.size()));
        for (const charge& c : charges) {
            keys_.add(key_of(key_prefix, c));
            if (c.correction != nullptr) {
                add_correction(c, key_prefix);
            } else {
                arguments_.add(cost_of(c));
                add_kind(c);
            }
            limit_.clear();
            c.limit->append_numbers(limit_, unix_now_);
            for (const std::int64_t number : limit_) {
                arguments_.add(number);
            }
            if (c.limit->how() == limit::supply_kind::places) {
                arguments_.add(c.place);
            }
            add_penalty(c, key_prefix);
        }
    }

    void write(std::string& out, const take_script_of& script)
    {
        end_usual();
        keys_.add(gift_key(script.key_prefix));
        head_.add(static_cast<std::int64_t>(usual_limits_.size()));
        for (const limit::limit* l : usual_limits_) {
            head_.add(l->in_microseconds().interval);
            head_.add(l->burst());
        }
        const std::string count = std::to_string(keys_.size());
        std::vector<std::string_view> words{"EVALSHA", script.sha, count};
        words.reserve(words.size() + keys_.size() + head_.size() + arguments_.size());
        keys_.append_to(words);
        head_.append_to(words);
        arguments_.append_to(words);
        encode(out, words);
    }

private:
    base::duration unix_now_;
    texts keys_;
    // The first of the arguments.
    texts head_;
    texts arguments_;
    std::vector<std::int64_t> limit_;
    // Of usual questions, each once.
    std::vector<const limit::limit*> usual_limits_;

    // What usual questions say that differ in their key only: how many times, what stands for their
    // charges, cost, limit.
    using usual = std::array<std::int64_t, 4>;
    usual usual_{};
    // How many of these came last.
    std::int64_t usual_keys_ = 0;

    void add_usual(const usual& question)
    {
        if (question != usual_) {
            end_usual();
            usual_ = question;
        }
        ++usual_keys_;
    }

    void end_usual()
    {
        if (usual_keys_ > 0) {
            for (const std::int64_t word : usual_) {
                arguments_.add(word);
            }
            arguments_.add(usual_keys_);
        }
        usual_keys_ = 0;
    }

    // From 1.
    std::int64_t number_of(const limit::limit& l)
    {
        const auto found = std::find(usual_limits_.begin(), usual_limits_.end(), &l);
        const auto number = found - usual_limits_.begin() + 1;
        if (found == usual_limits_.end()) {
            usual_limits_.push_back(&l);
        }
        return number;
    }

    // What is added to the kind of a charge whose limit has a penalty.
    static std::int64_t punishes(const charge& c) { return c.penalty == nullptr ? 0 : 16; }

    void add_penalty(const charge& c, std::string_view key_prefix)
    {
        if (c.penalty == nullptr) {
            return;
        }
        using std::chrono::microseconds;
        const limit::penalty& p = *c.penalty;
        keys_.add(key_of(key_prefix, c) + ":ban");
        arguments_.add(p.after);
        arguments_.add(p.within / microseconds{1});
        arguments_.add(p.ban / microseconds{1});
        arguments_.add(p.max_ban / microseconds{1});
    }

    void add_kind(const charge& c)
    {
        const std::int64_t enforced = c.enforced ? 1 : 0;
        if (c.max_wait == base::duration{0}) {
            arguments_.add(enforced + punishes(c));
            return;
        }
        arguments_.add(enforced + 8 + punishes(c));
        arguments_.add(c.max_wait / std::chrono::microseconds{1});
        arguments_.add(c.max_reserved);
    }

    void add_correction(const charge& c, std::string_view key_prefix)
    {
        if (!c.receipt.empty()) {
            keys_.add(std::string{key_prefix}.append("correction:").append(c.receipt));
        }
        const limit::correction& made = *c.correction;
        arguments_.add(made.of.tokens);
        arguments_.add(2 + static_cast<int>(made.what) + punishes(c) + (c.is_gift ? 32 : 0));
        arguments_.add(made.of.held);
        arguments_.add(made.of.owed_before);
    }
};

}  // namespace

void encode(std::string& out, std::span<const std::string_view> words)
{
    std::vector<const char*> begins;
    std::vector<std::size_t> lengths;
    begins.reserve(words.size());
    lengths.reserve(words.size());
    for (const std::string_view word : words) {
        begins.push_back(word.data());
        lengths.push_back(word.size());
    }
    char* bytes = nullptr;
    const auto count = static_cast<int>(words.size());
    const int length = redisFormatCommandArgv(&bytes, count, begins.data(), lengths.data());
    if (length < 0) {
        throw std::bad_alloc{};
    }
    out.append(bytes, static_cast<std::size_t>(length));
    redisFreeCommand(bytes);
}

// Of those that were asked the same, one after the other, only the first one's words are needed.
void encode_take(
    std::string& out, const take_script_of& script, const call& asked, base::duration unix_now
)
{
    take_words words{asked.number, unix_now};
    const auto all = asked.all();
    for (auto first = all.begin(); first != all.end();) {
        const auto other = [&first](const pending_question& q) { return !same(q, *first); };
        const auto end = std::find_if(std::next(first), all.end(), other);
        words.add(first->charges, static_cast<std::size_t>(end - first), script.key_prefix);
        first = end;
    }
    words.write(out, script);
}

void encode_probe(std::string& out, const take_script_of& script, std::int64_t number)
{
    const std::string key = std::string{script.key_prefix} + "probe";
    // A token per microsecond, a thousand at most: never rejected, forgotten at once.
    const std::string itself = std::to_string(number);
    const std::string gifts = gift_key(script.key_prefix);
    const std::array<std::string_view, 14> words{
        "EVALSHA", script.sha, "2", key, gifts, itself, "1", "1", "1000", "1", "0", "1", "1", "1"};
    encode(out, words);
}

std::string key_of(std::string_view key_prefix, const charge& c)
{
    std::string key;
    key.append(key_prefix).append(c.limit_name).append(":");
    return key.append(base::sha256_hex128(c.bucket_name.bytes()));
}

}  // namespace gateway::store::redis
