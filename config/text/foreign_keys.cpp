#include "config/text/hints.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

constexpr std::array<std::string_view, 3> not_yet{
    "compression",
    "cors",
    "http3",
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 46> known_elsewhere{
    {{"accesslog", "log.access"},
     {"average", "limits.NAME.rate"},
     {"backend", "upstreams"},
     {"backends", "upstreams"},
     {"bind", "listeners.address"},
     {"certificate", "listeners.tls"},
     {"clientmaxbodysize", "http.max_body_bytes"},
     {"clusters", "upstreams"},
     {"concurrency", "workers"},
     {"domains", "routes.match.host"},
     {"endpoints", "upstreams.NAME.servers"},
     {"entrypoints", "listeners"},
     {"frontend", "listeners"},
     {"frontends", "listeners"},
     {"healthcheck", "upstreams.NAME.health"},
     {"healthchecks", "upstreams.NAME.health"},
     {"keepalivetimeout", "http.idle_timeout"},
     {"lbpolicy", "upstreams.NAME.balance"},
     {"limitreq", "limits"},
     {"loadbalancer", "upstreams.NAME.servers"},
     {"location", "routes"},
     {"locations", "routes"},
     {"maxconn", "max_connections"},
     {"metrics", "admin.address"},
     {"middlewares", "routes.limits"},
     {"nbthread", "workers"},
     {"outlierdetection", "upstreams.NAME.ejection"},
     {"password", "stores.NAME.url"},
     {"pathprefix", "routes.match.path"},
     {"period", "limits.NAME.rate"},
     {"privatekey", "listeners.tls"},
     {"proxypass", "routes.upstream"},
     {"ratelimits", "limits"},
     {"realipheader", "client.header"},
     {"redirects", "routes.redirect"},
     {"redis", "stores.NAME.url"},
     {"retries", "upstreams.NAME.retry_budget"},
     {"rewrite", "routes.rewrite_prefix"},
     {"routers", "routes"},
     {"servername", "routes.match.host"},
     {"services", "upstreams"},
     {"setrealipfrom", "client.trusted_proxies"},
     {"sourcecriterion", "limits.NAME.key"},
     {"threads", "workers"},
     {"trustedips", "client.trusted_proxies"},
     {"workerprocesses", "workers"}}};

// Upper bound of the length of a foreign key.
constexpr std::size_t longest_key = 32;

std::string letters_of(std::string_view key)
{
    std::string letters = base::lower_case(key);
    std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
    return letters;
}

}  // namespace

std::string answer_to_foreign_key(std::string_view key)
{
    if (key.size() > longest_key) {
        return {};
    }
    const std::string word = letters_of(key);
    if (std::find(not_yet.begin(), not_yet.end(), word) != not_yet.end()) {
        return "not supported yet";
    }
    if (word == "websocket" || word == "websockets") {
        return "unknown key: WebSockets pass without one";
    }
    if (word == "grpc") {
        return "unknown key: gRPC passes without one";
    }
    if (word == "tls") {
        return "unknown key: TLS is set where it is spoken, did you mean \"listeners.tls\", "
               "\"upstreams.NAME.tls\" or \"stores.NAME.tls\"?";
    }
    if (word == "port") {
        return "unknown key: a port stands behind its host, as in 127.0.0.1:8080";
    }
    const auto same =
        std::find_if(known_elsewhere.begin(), known_elsewhere.end(), [&](const auto& p) {
            return p.first == word;
        });
    return same == known_elsewhere.end()
               ? std::string{}
               : "unknown key, did you mean \"" + std::string{same->second} + "\"?";
}

std::span<const std::pair<std::string_view, std::string_view>> foreign_keys()
{
    return known_elsewhere;
}

}  // namespace gateway::config
