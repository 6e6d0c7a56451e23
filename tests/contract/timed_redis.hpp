// A real redis-server whose wall clock a test sets, and the product's scripts in it. What expires
// does so by that clock, too.
#pragma once

#include "gateway/store/redis/protocol/command.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "tests/contract/redis_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace gateway::store::testing {

// Microseconds since the Unix epoch, in a file that another process maps.
class shared_clock {
public:
    shared_clock()
    {
        path_ = std::filesystem::temp_directory_path() / "gateway-clock-XXXXXX";
        const int fd = ::mkstemp(path_.data());
        EXPECT_EQ(::ftruncate(fd, sizeof(std::int64_t)), 0);
        void* const at =
            ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ::close(fd);
        EXPECT_NE(at, MAP_FAILED);
        now_ = static_cast<std::atomic<std::int64_t>*>(at);
    }

    ~shared_clock()
    {
        ::munmap(now_, sizeof(std::int64_t));
        ::unlink(path_.c_str());
    }

    shared_clock(const shared_clock&) = delete;
    shared_clock& operator=(const shared_clock&) = delete;

    const std::string& path() const { return path_; }

    void set(std::int64_t microseconds) { now_->store(microseconds); }

private:
    std::string path_;
    std::atomic<std::int64_t>* now_ = nullptr;
};

class timed_redis {
public:
    explicit timed_redis(std::int64_t microseconds)
    {
        set_clock(microseconds);
        server_.emplace(
            std::vector<std::string>{},
            std::vector<std::string>{
                "LD_PRELOAD=" VIRTUAL_TIME, "GATEWAY_TEST_CLOCK=" + clock_.path()}
        );
        link_.reset(redisConnectWithTimeout("127.0.0.1", server_->port(), {5, 0}));
        take_sha_ = text({"SCRIPT", "LOAD", std::string{redis::take_script}});
        walk_sha_ = text({"SCRIPT", "LOAD", std::string{redis::rebase_script}});
    }

    void set_clock(std::int64_t microseconds) { clock_.set(microseconds); }

    // What is answered to one question. `gateway_now`: Unix time as the gateway sees it.
    answer take(std::span<const charge> charges, base::duration gateway_now)
    {
        call_.number = 7;
        call_.count = 1;
        call_.questions[0].charges = charges;
        std::string bytes;
        const encoded_call told = encode(call_, {.key_prefix = prefix, .unix_now = gateway_now});
        redis::encode_take(bytes, take_sha_, told);
        redisAppendFormattedCommand(link_.get(), bytes.data(), bytes.size());
        const std::vector<std::int64_t> said = numbers(next_reply());
        answer a;
        reply_parser results{said, told.shape};
        EXPECT_EQ(results.next(charges.size(), a), call_results::kind::answer);
        EXPECT_TRUE(results.ended());
        return a;
    }

    // One whole walk over the keys, after these limits have changed.
    void walk(
        const std::vector<std::pair<std::string, const limit::limit*>>& limits,
        base::duration gateway_now
    )
    {
        std::string words;
        for (const auto& [name, limit] : limits) {
            std::vector<std::int64_t> all;
            limit->append_numbers(all, gateway_now);
            words += name + ' ';
            for (const std::int64_t number : all) {
                words += std::to_string(number) + ',';
            }
            words += ' ';
        }
        std::string cursor = "0";
        do {
            cursor = text({"EVALSHA", walk_sha_, "0", cursor, "100", prefix, words});
        } while (cursor != "0");
    }

    // Of the bucket's key, in milliseconds; below zero: there is none.
    std::int64_t time_to_live(const charge& c)
    {
        return std::stoll(text({"PTTL", store::key_of(prefix, c)}));
    }

    // Of a banned bucket what it owes is beside its key.
    void forget(const charge& c)
    {
        const std::string key = store::key_of(prefix, c);
        const bool is_banned = text({"EVAL", is_ban, "1", key}) == "1";
        text({"DEL", is_banned ? key + ":before" : key});
    }

    void forget_bans(const charge& c) { text({"DEL", store::key_of(prefix, c) + ":ban"}); }

    // One that an operator has given.
    void end_ban(const charge& c) { text({"EVAL", end_of_ban, "1", store::key_of(prefix, c)}); }

    static std::string key_of(const charge& c) { return store::key_of(prefix, c); }

private:
    static constexpr const char* prefix = "gw:";
    static constexpr const char* is_ban =
        "local head = redis.pcall('LINDEX', KEYS[1], 0)"
        " return type(head) == 'string' and string.sub(head, 1, 4) == 'ban ' and 1 or 0";
    static constexpr const char* end_of_ban =
        "local head = redis.pcall('LINDEX', KEYS[1], 0)"
        " if type(head) ~= 'string' or string.sub(head, 1, 4) ~= 'ban ' then return 0 end"
        " redis.call('DEL', KEYS[1])"
        " if redis.call('EXISTS', KEYS[1] .. ':before') == 1 then"
        " redis.call('RENAME', KEYS[1] .. ':before', KEYS[1]) end"
        " return 1";

    struct reply_deleter {
        void operator()(redisReply* r) const { freeReplyObject(r); }
    };

    using reply = std::unique_ptr<redisReply, reply_deleter>;

    shared_clock clock_;
    std::optional<redis_server> server_;
    redis_server::connection link_;
    std::string take_sha_;
    std::string walk_sha_;
    call call_;

    reply next_reply()
    {
        void* got = nullptr;
        EXPECT_EQ(redisGetReply(link_.get(), &got), REDIS_OK);
        return reply{static_cast<redisReply*>(got)};
    }

    static std::vector<std::int64_t> numbers(const reply& r)
    {
        std::vector<std::int64_t> all;
        EXPECT_EQ(r->type, REDIS_REPLY_ARRAY) << (r->str == nullptr ? "" : r->str);
        for (std::size_t i = 0; i < r->elements; ++i) {
            all.push_back(r->element[i]->integer);
        }
        return all;
    }

    std::string text(const std::vector<std::string>& words)
    {
        std::vector<std::string_view> views(words.begin(), words.end());
        std::string bytes;
        redis::encode(bytes, views);
        redisAppendFormattedCommand(link_.get(), bytes.data(), bytes.size());
        const reply r = next_reply();
        EXPECT_NE(r->type, REDIS_REPLY_ERROR) << r->str;
        return r->type == REDIS_REPLY_INTEGER ? std::to_string(r->integer)
               : r->str == nullptr            ? ""
                                              : std::string{r->str, r->len};
    }
};

}  // namespace gateway::store::testing
