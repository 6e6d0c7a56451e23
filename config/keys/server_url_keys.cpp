#include "config/keys/server_url_keys.hpp"

#include "config/keys/pem_keys.hpp"
#include "config/keys/tls_client_keys.hpp"
#include "config/keys/token_file.hpp"
#include "config/text/text_file.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/store_url.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

// Parameter of libpq that has no effect here, and is in very many URLs.
constexpr std::string_view idle_parameter = "connect_timeout";

bool has_idle_parameter(const store::shared_options& options)
{
    const auto* const postgres = std::get_if<store::postgres_options>(&options);
    return postgres != nullptr &&
           std::any_of(postgres->parameters.begin(), postgres->parameters.end(), [](const auto& p) {
               return p.first == idle_parameter;
           });
}

void load_url(section& from, store::shared_options& options)
{
    const std::string* url = from.text("url");
    if (url == nullptr) {
        return;
    }
    const auto parsed = parse_store_url(*url);
    if (!parsed.value) {
        from.problem("url", parsed.complaint);
        return;
    }
    options = *parsed.value;
    if (has_idle_parameter(options)) {
        from.warning(
            "url",
            "the parameter " + std::string{idle_parameter} +
                " has no effect: \"timeout\" of the store counts instead"
        );
    }
}

// Reads a key that names a file with a password.
void load_password(
    section& from, std::string_view key, std::string& path, std::string& password, const draft& d
)
{
    const std::string* const written = from.text(key);
    if (written == nullptr) {
        return;
    }
    if (!password.empty()) {
        from.problem(key, "\"url\" has a password already; leave one out");
        return;
    }
    parsed<std::string> read = read_password(beside(d, *written));
    if (!read.value) {
        from.problem(key, std::move(read.complaint));
        return;
    }
    path = *written;
    password = *std::move(read.value);
}

void describe_password(keys& shared, store::shared_options& options, const draft& d)
{
    shared.other(
        {"password_file",
         "a file with the password, instead of one in `url`; a user may stand there, as in "
         "`redis://user@host`. Read again at each reload"},
        {.says = {"none", "one line of 1 to 512 bytes"},
         .read =
             [&](section& from) {
                 const auto load = [&](auto& kind) {
                     load_password(from, "password_file", kind.password_file, kind.password, d);
                 };
                 std::visit(load, options);
             },
         .print =
             [&] {
                 return std::visit(
                     [](const auto& kind) { return printed_path(kind.password_file); }, options
                 );
             },
         .optional = true}
    );
    shared.rule([&options](section& from) {
        const auto* const redis = std::get_if<store::redis_options>(&options);
        if (redis != nullptr && !redis->user.empty() && redis->password.empty() &&
            !from.has("password_file")) {
            from.problem(
                "url",
                "a user without a password: write user:password@ or :password@, or say where the "
                "password is with \"password_file\""
            );
        }
    });
}

void load_sentinel_password(section& from, store::redis_options& options, const draft& d)
{
    constexpr std::string_view key = "sentinel_password_file";
    if (options.sentinel) {
        store::sentinel_options& s = *options.sentinel;
        load_password(from, key, s.password_file, s.password, d);
    } else if (from.has(key)) {
        from.problem(
            key, "is for a \"url\" that begins with redis-sentinel:// or rediss-sentinel://"
        );
    }
}

void describe_sentinel_password(keys& shared, store::redis_options& options, const draft& d)
{
    shared.other(
        {"sentinel_password_file",
         "of `redis-sentinel://` and `rediss-sentinel://`: a file with the password of the "
         "sentinels "
         "themselves. Read again at each reload"},
        {.says = {"none", "one line of 1 to 512 bytes"},
         .read = [&](section& from) { load_sentinel_password(from, options, d); },
         .print = [&]() -> std::optional<std::string> {
             return options.sentinel ? printed_path(options.sentinel->password_file) : std::nullopt;
         },
         .optional = true}
    );
}

}  // namespace

void describe_server_url(keys& shared, store::shared_options& options, const draft& d)
{
    shared.other(
        {"url",
         "of a shared store: `redis://[user:password@]host[:port][/db]`, `rediss://…` of the same "
         "form for TLS, `unix:///run/redis.sock?db=0`, "
         "`redis-sentinel://[user:password@]host1[:26379],host2/MASTER[/db]` for the master that "
         "up to 16 sentinels name, `redis-cluster://[user:password@]host1[:6379],host2` for a "
         "cluster, of which up to 16 nodes are named and the others are found, "
         "`rediss-sentinel://…` and `rediss-cluster://…` of these forms for TLS to sentinels and "
         "nodes alike, or "
         "`postgresql://user@host,host/database?sslmode=…`, libpq's own, also with `?service=NAME` "
         "of its service file. In user and password, `@` "
         "is written "
         "`%40`, `/` `%2F`, `?` `%3F`, `#` `%23`, `%` `%25` and space `%20`"},
        {.says = {"none"},
         .schema =
             R"({"type":"string","pattern":"^(rediss?(-sentinel|-cluster)?|unix|postgres(ql)?)://"})",
         .read = [&](section& from) { load_url(from, options); },
         .print = [&] { return yaml(url_without_secret(options)); }}
    );
    describe_password(shared, options, d);
    // The keys that follow are for Redis only.
    store::redis_options none;
    auto* const in_redis = std::get_if<store::redis_options>(&options);
    store::redis_options& redis = in_redis == nullptr ? none : *in_redis;
    describe_sentinel_password(shared, redis, d);
    std::optional<net::tls_client_options>& tls = redis.tls;
    net::tls_client_options unused;
    shared.mapping(
        {"tls",
         "of `rediss://`, `rediss-sentinel://` and `rediss-cluster://`: how each server is known, "
         "and "
         "who we are; the keys below. The files are read again at each reload"},
        [&](keys& k) {
            constexpr std::string_view name =
                "what the certificate of each server must be for, if not the host that it is "
                "reached by: that in `url`, or one that sentinels or nodes name";
            describe_tls_client(k, tls ? *tls : unused, name, d);
        },
        tls.has_value()
    );
    shared.rule([&tls](section& from) {
        if (from.has("tls") && !tls) {
            from.problem(
                "tls",
                "is for a \"url\" that begins with rediss://, rediss-sentinel:// or "
                "rediss-cluster://; in postgresql:// say sslmode, sslrootcert, sslcert and sslkey"
            );
        } else if (tls && !from.has("tls")) {
            net::tls_client::prepare(*tls);  // with nothing but the system's certificates
        }
    });
}

}  // namespace gateway::config
