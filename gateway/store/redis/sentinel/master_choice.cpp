#include "gateway/store/redis/sentinel/master_choice.hpp"

#include "gateway/base/text.hpp"
#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/complaint.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace gateway::store::redis {

namespace {

constexpr std::uint64_t most_epochs = std::numeric_limits<std::int64_t>::max();

// Returns the value after that name, in a reply of names and values in turn. Empty: there is none.
std::string_view value_of(const reply& r, std::string_view name)
{
    for (std::size_t i = 0; !r.word(i).empty(); i += 2) {
        if (r.word(i) == name) {
            return r.word(i + 1);
        }
    }
    return {};
}

// Returns the value after that name, in an array of names and values in turn. Empty: there is none.
std::string_view value_in(const redisReply& fields, std::string_view name)
{
    const auto text = [](const redisReply& r) {
        return r.type == REDIS_REPLY_STRING ? std::string_view{r.str, r.len} : std::string_view{};
    };
    const std::size_t count = fields.type == REDIS_REPLY_ARRAY ? fields.elements : 0;
    for (std::size_t i = 0; i + 1 < count; i += 2) {
        if (text(*fields.element[i]) == name) {
            return text(*fields.element[i + 1]);
        }
    }
    return {};
}

void add_new(std::vector<net::server_address>& all, const net::server_address& one)
{
    const bool is_known = std::find(all.begin(), all.end(), one) != all.end();
    if (!is_known && all.size() < redis_options::max_servers) {
        all.push_back(one);
    }
}

std::string list_of(
    const sentinel_options& options, std::span<const std::optional<sentinel_answer>> answers
)
{
    std::string list;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        list += (i == 0 ? "" : ", ") + options.sentinels[i].text();
        list += " (" + (answers[i] ? answers[i]->detail : "silent") + ")";
    }
    return list;
}

}  // namespace

// Asks for the address first, as that reply is the newest that the sentinel knows. While it
// promotes a server, the reply to MASTER still has the old address, with the new epoch.
std::string encode_master_query(const sentinel_options& options)
{
    std::string out;
    if (!options.password.empty()) {
        encode(out, std::array<std::string_view, 2>{"AUTH", options.password});
    }
    encode(
        out, std::array<std::string_view, 3>{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options.master}
    );
    encode(out, std::array<std::string_view, 3>{"SENTINEL", "MASTER", options.master});
    return out;
}

std::string encode_replicas_query(const sentinel_options& options)
{
    std::string out;
    encode(out, std::array<std::string_view, 3>{"SENTINEL", "REPLICAS", options.master});
    return out;
}

std::vector<net::server_address> replicas_in(const redisReply& replicas)
{
    std::vector<net::server_address> all;
    const std::size_t count = replicas.type == REDIS_REPLY_ARRAY ? replicas.elements : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const redisReply& fields = *replicas.element[i];
        const std::string_view host = value_in(fields, "ip");
        const std::string_view port = value_in(fields, "port");
        const bool is_down = value_in(fields, "flags").find("down") != std::string_view::npos;
        if (!is_down && !host.empty() && base::parse_decimal(port, 65535)) {
            add_new(all, {std::string{host}, std::string{port}, {}});
        }
    }
    return all;
}

master_answer::master_answer(const sentinel_options& options)
    : password_(options.password), replies_(password_.empty() ? 2 : 3)
{}

void master_answer::accept(const reply& r)
{
    const bool is_login = replies_ == 3 && answered_ == 0;
    ++answered_;
    if (refused_) {
        return;
    }
    if (r.what == reply::kind::error) {
        const failure why = is_login ? classify_login(r.text()) : classify(r.text()).why;
        refuse(why, quotable(r.text(), password_));
    } else if (!is_login) {
        answered_ + 1 == replies_ ? read_address(r) : read_epoch(r);
    } else if (r.what != reply::kind::status) {
        refuse(failure::protocol, "no reply of a sentinel");
    }
}

void master_answer::read_address(const reply& r)
{
    const std::string_view host = r.word(0);
    const std::string_view port = r.word(1);
    if (r.what == reply::kind::nil) {
        refuse(failure::config, "knows no master of that name");
    } else if (host.empty() || !base::parse_decimal(port, 65535)) {
        refuse(failure::protocol, "no reply of a sentinel");
    } else {
        answer_.master = {.host = std::string{host}, .port = std::string{port}, .socket_path = {}};
    }
}

void master_answer::read_epoch(const reply& r)
{
    if (const auto epoch = base::parse_decimal(value_of(r, "config-epoch"), most_epochs)) {
        answer_.epoch = static_cast<std::int64_t>(*epoch);
    } else {
        refuse(failure::protocol, "no reply of a sentinel");
    }
}

void master_answer::refuse(failure why, std::string detail)
{
    refused_ = true;
    answer_ = {.master = {}, .epoch = 0, .why = why, .detail = std::move(detail)};
}

naming masters_named(
    const sentinel_options& options, std::span<const std::optional<sentinel_answer>> answers
)
{
    std::vector<const sentinel_answer*> good;
    naming all;
    for (const auto& answer : answers) {
        if (answer && answer->master) {
            good.push_back(&*answer);
        } else if (answer && answer->why != failure::timeout && all.why == failure::unreachable) {
            all.why = answer->why;
        }
    }
    std::int64_t newest = 0;
    for (const sentinel_answer* answer : good) {
        newest = std::max(newest, answer->epoch);
    }
    for (const sentinel_answer* answer : good) {
        if (answer->epoch != newest) {
            continue;
        }
        add_new(all.masters, *answer->master);
        for (const net::server_address& replica : answer->replicas) {
            add_new(all.replicas, replica);
        }
    }
    if (all.masters.empty()) {
        all.detail =
            "no sentinel names the master " + options.master + ": " + list_of(options, answers);
    }
    return all;
}

// Returns the servers to try: those that sentinels name, and replicas before one that has denied.
std::vector<net::server_address> master_choice::candidates(const naming& named)
{
    std::vector<net::server_address> all = named.masters;
    const auto denying = denied_ ? std::find(all.begin(), all.end(), *denied_) : all.end();
    if (denying == all.end()) {
        denied_.reset();
        return all;
    }
    all.erase(denying);
    for (const net::server_address& replica : named.replicas) {
        add_new(all, replica);
    }
    add_new(all, *denied_);
    return all;
}

net::server_address master_choice::next(const naming& named)
{
    const std::vector<net::server_address> all = candidates(named);
    const auto is_new = [this](const net::server_address& a) {
        return std::find(tried_.begin(), tried_.end(), a) == tried_.end();
    };
    auto found = std::find_if(all.begin(), all.end(), is_new);
    if (found == all.end()) {
        tried_.clear();
        found = all.begin();
    }
    tried_.push_back(*found);
    return *found;
}

void master_choice::accepted(const net::server_address& master)
{
    tried_.clear();
    if (denied_ == master) {
        denied_.reset();
    }
}

}  // namespace gateway::store::redis
