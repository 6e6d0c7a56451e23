#include "gateway/store/postgres/statement.hpp"

#include "gateway/store/postgres/parameters.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gateway::store::postgres {

namespace {

// Object ids of types, as in pg_type.
constexpr unsigned type_bigint = 20;
constexpr unsigned type_int = 23;
constexpr unsigned type_text = 25;
constexpr unsigned type_texts = 1009;
constexpr unsigned type_bigints = 1016;

constexpr const char* take_any = "take_1";
constexpr const char* take_simple = "take_usual_2";
constexpr const char* take_one = "take_one_2";

// Returns the SQL of a call through a pooler. That gives each transaction another connection
// (pgbouncer before 1.21), and so knows no prepared statement.
std::string pooled_call_of(std::string_view function, std::size_t parameters)
{
    std::string sql = "SELECT gateway.pooled_";
    sql += function;
    for (std::size_t i = 1; i <= parameters; ++i) {
        sql += (i == 1 ? "($" : ", $") + std::to_string(i);
    }
    return sql + ')';
}

// True if one statement can answer the whole call at once: it has simple questions only (see
// encoded_call.hpp), no bucket comes twice, and something is to be taken from each.
bool is_simple(const encoded_call& encoded)
{
    const bool all = std::all_of(encoded.shape.begin(), encoded.shape.end(), [](const auto& s) {
        return s.keys > 0 && s.cost > 0;
    });
    std::set<std::string_view> buckets;
    for (std::size_t i = 0; all && i + 1 < encoded.keys.size(); ++i) {
        buckets.insert(encoded.keys[i]);
    }
    return all && buckets.size() + 1 == encoded.keys.size();
}

// Encodes a number for each bucket, taken from the group of questions that the bucket is in.
std::string numbers_of(const encoded_call& encoded, std::int64_t simple_charges::*what)
{
    std::vector<std::int64_t> all;
    for (const simple_charges& s : encoded.shape) {
        all.insert(all.end(), static_cast<std::size_t>(s.keys), s.*what);
    }
    return encode_numbers(all);
}

statement::value bigint(std::int64_t number)
{
    return {type_bigint, false, std::to_string(number)};
}

// True if the call is simple and about one bucket, however many times that is asked.
bool is_one(const encoded_call& encoded)
{
    return encoded.shape.size() == 1 && encoded.keys.size() == 2 && is_simple(encoded);
}

statement one_statement(encoded_call encoded)
{
    const simple_charges& asked = encoded.shape[0];
    statement s;
    s.values = {
        {type_text, false, std::string{encoded.keys[0]}},
        bigint(asked.times),
        bigint(asked.cost),
        bigint(asked.interval),
        bigint(asked.burst),
        {type_text, false, std::string{encoded.keys[1]}},
        bigint(encoded.numbers[0])};
    s.shape = std::move(encoded.shape);
    return s;
}

statement simple_statement(encoded_call encoded)
{
    texts buckets;
    for (std::size_t i = 0; i + 1 < encoded.keys.size(); ++i) {
        buckets.add(encoded.keys[i]);
    }
    statement s;
    s.values = {
        {type_texts, true, encode_texts(buckets)},
        {type_bigints, true, numbers_of(encoded, &simple_charges::times)},
        {type_bigints, true, numbers_of(encoded, &simple_charges::cost)},
        {type_bigints, true, numbers_of(encoded, &simple_charges::interval)},
        {type_bigints, true, numbers_of(encoded, &simple_charges::burst)},
        {type_text, false, std::string{encoded.keys[encoded.keys.size() - 1]}},
        bigint(encoded.numbers[0])};
    s.shape = std::move(encoded.shape);
    return s;
}

statement finished(statement s, const char* function, const statement_form& form)
{
    if (form.pooled_wait) {
        s.values.push_back({type_int, false, std::to_string(*form.pooled_wait)});
        s.sql = pooled_call_of(function, s.values.size());
    } else {
        s.prepared = function;
    }
    return s;
}

}  // namespace

std::string_view prepared_statements()
{
    return "PREPARE take_1 (text[], bigint[]) AS SELECT gateway.take_1($1, $2);"
           "PREPARE take_usual_2 (text[], bigint[], bigint[], bigint[], bigint[], text, bigint) AS "
           "SELECT gateway.take_usual_2($1, $2, $3, $4, $5, $6, $7);"
           "PREPARE take_one_2 (text, bigint, bigint, bigint, bigint, text, bigint) AS "
           "SELECT coalesce(l.refusal, gateway.take_one_2($1, $2, $3, $4, $5, $6, $7, l.is_there)) "
           "FROM gateway.look_at_one_1($1, $3, $4, $5, $6, $7) l";
}

// Makes a row, takes from it, and takes from it beside another row that is made. Only this session
// knows the keys of these rows, so it waits for no other.
std::string_view rehearsal()
{
    return "BEGIN;"
           "EXECUTE take_one_2 ('rehearsal/' || pg_backend_pid(), 1, 1, 1, 9, '', 0);"
           "EXECUTE take_one_2 ('rehearsal/' || pg_backend_pid(), 1, 1, 1, 9, '', 0);"
           "EXECUTE take_usual_2 (ARRAY['rehearsal/' || pg_backend_pid(), 'rehearsal 2/' || "
           "pg_backend_pid()], '{1,1}', '{1,1}', '{1,1}', '{9,9}', '', 0);"
           "EXECUTE take_1 (ARRAY['rehearsal/' || pg_backend_pid(), ''], '{0,1,1,1,1,1,9}');"
           "ROLLBACK";
}

statement take(const call& c, const statement_form& form, base::duration unix_now)
{
    encoding_options how{.key_prefix = form.key_prefix, .unix_now = unix_now};
    encoded_call encoded = encode(c, how);
    if (is_one(encoded)) {
        return finished(one_statement(std::move(encoded)), take_one, form);
    }
    if (is_simple(encoded)) {
        return finished(simple_statement(std::move(encoded)), take_simple, form);
    }
    how.ones = grouping::apart;
    encoded = encode(c, how);
    statement s;
    s.values = {
        {type_texts, true, encode_texts(encoded.keys)},
        {type_bigints, true, encode_numbers(encoded.numbers)}};
    s.shape = std::move(encoded.shape);
    return finished(std::move(s), take_any, form);
}

statement probe(std::int64_t number, const statement_form& form)
{
    return finished(
        simple_statement(encode_probe(number, {.key_prefix = form.key_prefix})), take_simple, form
    );
}

}  // namespace gateway::store::postgres
