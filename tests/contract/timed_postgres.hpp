// A real PostgreSQL server with the product's functions, whose clock a test sets.
#pragma once

#include "gateway/store/postgres/parameters.hpp"
#include "gateway/store/postgres/schema.hpp"
#include "gateway/store/postgres/statement.hpp"
#include "gateway/store/remote/reply_parser.hpp"
#include "tests/contract/postgres_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store::testing {

class timed_postgres {
public:
    explicit timed_postgres(std::int64_t microseconds) : link_(server_.connect())
    {
        command(postgres::schema_script(false));
        command("CREATE UNLOGGED TABLE clock AS SELECT 0::bigint AS at");
        command(
            "CREATE OR REPLACE FUNCTION gateway.now() RETURNS bigint LANGUAGE sql VOLATILE "
            "AS 'SELECT at FROM clock'"
        );
        command(std::string{postgres::prepared_statements()});
        set_clock(microseconds);
    }

    void set_clock(std::int64_t microseconds)
    {
        command("UPDATE clock SET at = " + std::to_string(microseconds));
    }

    // What is answered to one question. `gateway_now`: Unix time as the gateway sees it.
    answer take(std::span<const charge> charges, base::duration gateway_now)
    {
        call_.number = 7;
        call_.count = 1;
        call_.questions[0].charges = charges;
        const postgres::statement asked =
            postgres::take(call_, {.key_prefix = prefix, .pooled_wait = std::nullopt}, gateway_now);
        const std::vector<std::int64_t> said = numbers_to(asked);
        reply_parser reply{said, asked.shape};
        answer a;
        EXPECT_TRUE(reply.begins());
        EXPECT_EQ(reply.next(charges.size(), a), call_results::kind::answer);
        EXPECT_TRUE(reply.ended());
        return a;
    }

    // One whole walk over the rows, after these limits have changed.
    void walk(
        const std::vector<std::pair<std::string, const limit::limit*>>& limits,
        base::duration gateway_now
    )
    {
        for (const auto& [name, limit] : limits) {
            std::vector<std::int64_t> numbers;
            limit->append_numbers(numbers, gateway_now);
            std::string words;
            for (const std::int64_t number : numbers) {
                words += (words.empty() ? "" : ",") + std::to_string(number);
            }
            std::string last;
            do {
                last = command(
                    "SELECT gateway.rebase_1('gw:" + name + ":', '" + last + "', 2, '{" + words +
                    "}')"
                );
            } while (!last.empty());
        }
    }

    // Of the bucket's row, in milliseconds.
    std::int64_t time_to_live(const charge& c)
    {
        return std::stoll(command(
            "SELECT (full_at - gateway.now() + 999) / 1000 FROM gateway.buckets WHERE key = '" +
            key_of(c) + "'"
        ));
    }

    // A banned bucket keeps its row.
    void forget(const charge& c)
    {
        command(
            "UPDATE gateway.buckets SET kind = 'n', full_at = 0, moments = NULL, amounts = NULL "
            "WHERE key = '" +
            key_of(c) + "'"
        );
    }

    void forget_bans(const charge& c) { drop(key_of(c) + ":ban"); }

    // One that an operator has given.
    void end_ban(const charge& c)
    {
        command("UPDATE gateway.buckets SET passed = NULL WHERE key = '" + key_of(c) + "'");
    }

    static std::string key_of(const charge& c) { return store::key_of(prefix, c); }

private:
    static constexpr const char* prefix = "gw:";

    postgres_server server_;
    postgres_server::connection link_;
    call call_;

    std::string command(const std::string& sql)
    {
        std::string said = postgres_server::command(*link_, sql);
        EXPECT_FALSE(said.starts_with("error: ")) << said;
        return said;
    }

    void drop(const std::string& key)
    {
        command("DELETE FROM gateway.buckets WHERE key = '" + key + "'");
    }

    std::vector<std::int64_t> numbers_to(const postgres::statement& asked)
    {
        std::vector<const char*> values;
        std::vector<int> sizes;
        std::vector<int> formats;
        for (const auto& v : asked.values) {
            values.push_back(v.bytes.c_str());
            sizes.push_back(static_cast<int>(v.bytes.size()));
            formats.push_back(v.is_binary ? 1 : 0);
        }
        const std::unique_ptr<PGresult, decltype(&PQclear)> r{
            PQexecPrepared(
                link_.get(),
                asked.prepared,
                static_cast<int>(values.size()),
                values.data(),
                sizes.data(),
                formats.data(),
                1
            ),
            &PQclear};
        EXPECT_EQ(PQresultStatus(r.get()), PGRES_TUPLES_OK) << PQresultErrorMessage(r.get());
        if (PQresultStatus(r.get()) != PGRES_TUPLES_OK) {
            return {};
        }
        const auto size = static_cast<std::size_t>(PQgetlength(r.get(), 0, 0));
        return postgres::decode_numbers({PQgetvalue(r.get(), 0, 0), size}).value();
    }
};

}  // namespace gateway::store::testing
