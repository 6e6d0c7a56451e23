// `describe_server_url` describes where the server of a shared store is, and its credentials.
#include "config/keys/token_file.hpp"
#include "config/sections.hpp"
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

// Takes the path of a file with a password, in the options of a server or of sentinels.
template <class Options>
std::string take_password(const std::string& path, Options& options, const draft& d)
{
    if (!options.password.empty()) {
        return "\"url\" has a password already; leave one out";
    }
    parsed<std::string> read = read_password(beside(d, path));
    if (read.value) {
        options.password_file = path;
        options.password = *std::move(read.value);
    }
    return read.complaint;
}

std::string take_sentinel_password(
    const std::string& path, store::redis_options& options, const draft& d
)
{
    return options.sentinel
               ? take_password(path, *options.sentinel, d)
               : "is for a \"url\" that begins with redis-sentinel:// or rediss-sentinel://";
}

void check_user(section& from, const store::shared_options& options)
{
    const auto* const redis = std::get_if<store::redis_options>(&options);
    if (redis != nullptr && !redis->user.empty() && redis->password.empty() &&
        !from.has("password_file")) {
        from.problem(
            "url",
            "a user without a password: write user:password@ or :password@, or say where the "
            "password is with \"password_file\""
        );
    }
}

void describe_passwords(
    keys& k, store::shared_options& options, store::redis_options& redis, const draft& d
)
{
    const stated documented{"none", "one line of 1 to 512 bytes"};
    const auto take = [&](const std::string& path) {
        return std::visit([&](auto& kind) { return take_password(path, kind, d); }, options);
    };
    const auto print = [&] {
        return yaml_or_nothing(std::visit([](const auto& o) { return o.password_file; }, options));
    };
    k("password_file",
      "a file with the password, instead of one in `url`. The user stays in `url`, as in "
      "`redis://user@host`. The file is read again at each reload")
        .text({.documented = documented, .take = take, .print = print});
    k.rule([&options](section& from) { check_user(from, options); });
    k("sentinel_password_file",
      "a file with the password of the sentinels themselves, for `redis-sentinel://` and "
      "`rediss-sentinel://`. It is read again at each reload")
        .text(
            {.documented = documented,
             .take = [&](const std::string& path
                     ) { return take_sentinel_password(path, redis, d); },
             .print =
                 [&] {
                     return redis.sentinel ? yaml_or_nothing(redis.sentinel->password_file) : "";
                 }}
        );
}

void check_tls(section& from, std::optional<net::tls_client_options>& tls)
{
    if (from.has("tls") && !tls) {
        from.problem(
            "tls",
            "is for a \"url\" that begins with rediss://, rediss-sentinel:// or rediss-cluster://; "
            "in postgresql:// say sslmode, sslrootcert, sslcert and sslkey"
        );
    } else if (tls && !from.has("tls")) {
        net::tls_client::prepare(*tls);  // with nothing but the system's certificates
    }
}

}  // namespace

void describe_server_url(keys& k, store::shared_options& options, const draft& d)
{
    k("url",
      "the address of a shared store, in one of these forms: "
      "`redis://[user:password@]host[:port][/db]`; `rediss://…`, the same with TLS; "
      "`unix:///run/redis.sock?db=0`; "
      "`redis-sentinel://[user:password@]host1[:26379],host2/MASTER[/db]` for the master that "
      "up to 16 sentinels name; `redis-cluster://[user:password@]host1[:6379],host2` for a "
      "cluster, of which up to 16 nodes are named and the others are found; "
      "`rediss-sentinel://…` and `rediss-cluster://…`, the same with TLS to sentinels and nodes "
      "alike; `postgresql://user@host,host/database?sslmode=…`, libpq's own form, also with "
      "`?service=NAME` of its service file. In user and password, `@` is written `%40`, `/` "
      "`%2F`, `?` `%3F`, `#` `%23`, `%` `%25` and space `%20`",
      required)
        .other(
            {.documented = {"none"},
             .schema =
                 R"({"type":"string","pattern":"^(rediss?(-sentinel|-cluster)?|unix|postgres(ql)?)://"})",
             .read = [&](section& from) { load_url(from, options); },
             .print = [&] { return yaml(url_without_secret(options)); }}
        );
    // The keys that follow are for Redis only.
    store::redis_options none;
    auto* const in_redis = std::get_if<store::redis_options>(&options);
    store::redis_options& redis = in_redis == nullptr ? none : *in_redis;
    describe_passwords(k, options, redis, d);
    std::optional<net::tls_client_options>& tls = redis.tls;
    net::tls_client_options unused;
    const auto describe = [&](keys& inner) {
        constexpr std::string_view name =
            "the name that the certificate of each server must be for, instead of the host that it "
            "is reached by: that in `url`, or one that sentinels or nodes name";
        describe_tls_client(inner, tls ? *tls : unused, name, d);
    };
    k("tls",
      "says how servers are verified and which certificate the gateway has, for `rediss://`, "
      "`rediss-sentinel://` and `rediss-cluster://`; the keys below. The files are read again "
      "at each reload")
        .mapping(describe, tls.has_value());
    k.rule([&tls](section& from) { check_tls(from, tls); });
}

}  // namespace gateway::config
