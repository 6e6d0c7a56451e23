// Every kind of mistake, where it is reported, and in which words.
#include "tests/unit/config/complaints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::config {
namespace bad_files_test {

using testing::HasSubstr;

TEST(bad_files, the_sample_itself_is_good)
{
    EXPECT_EQ(problems_of(sample{}.text()), "");
}

TEST(bad_files, process_settings)
{
    expect_complaints({
        {"workers: 0", "f:1:10: workers: too small, the minimum is 1"},
        {"workers: 257", "f:1:10: workers: too large, the maximum is 256"},
        {"workers: many", "f:1:10: workers: expected auto or a number"},
        {"workers: 010",
         "f:1:10: workers: expected a whole number (decimal, without leading zeros)"},
        {"workers: \"2\"", "f:1:10: workers: expected a whole number, got text: remove the quotes"},
        {"drain_timeout: 30", "f:1:16: drain_timeout: expected a duration such as 250ms"},
        {"drain_timeout: 2h", "f:1:16: drain_timeout: too large, the maximum is 1h"},
        {"drain_timeout: [1s]",
         "f:1:16: drain_timeout: expected a duration such as 250ms, 2s, 5m, 1h or 1d, got a list"},
        {"drain_timeout:",
         "f:1:1: drain_timeout: expected a duration such as 250ms, 2s, 5m, 1h or 1d, got nothing"},
        {"max_connections: 1e4", "f:1:18: max_connections: expected a whole number"},
        {"max_connections: 99999999999999999999999",
         "f:1:18: max_connections: too large, the maximum is 1000000"},
        {"max_connections_per_peer: -1",
         "f:1:27: max_connections_per_peer: expected a whole number"},
        {"max_connections_per_peer: 1000001",
         "f:1:27: max_connections_per_peer: too large, the maximum is 1000000"},
        {"max_conections: 5",
         "f:1:1: max_conections: unknown key, did you mean \"max_connections\"?"},
        {"workers: 1\nworkers: 2", "f:2:1: workers: duplicate key, first on line 1"},
        {"http3: true", "f:1:1: http3: not supported yet"},
        {"grpc: true", "f:1:1: grpc: unknown key: gRPC passes without one"},
        {"tls: {}",
         "f:1:1: tls: unknown key: TLS is set where it is spoken, did you mean \"listeners.tls\", "
         "\"upstreams.NAME.tls\" or \"stores.NAME.tls\"?"},
        {"admin: 127.0.0.1:9901", "f:1:8: admin: expected a mapping, got a plain value"},
        {"admin: { address: 127.0.0.1:8080 }",
         "f:1:8: admin.address: a listener has the same address"},
        {"http: { header_timeout: 0s }",
         "f:1:25: http.header_timeout: too small, the minimum is 1ms"},
        {"http: { tunnel_idle_timeout: 0s }",
         "f:1:30: http.tunnel_idle_timeout: too small, the minimum is 1ms"},
        {"http: { idle_timeout: 25h }", "f:1:23: http.idle_timeout: too large, the maximum is 1d"},
        {"http: { max_header_bytes: 2MiB }",
         "f:1:27: http.max_header_bytes: too large, the maximum is 1MiB"},
        {"http: { max_header_bytes: 16KB }",
         "f:1:27: http.max_header_bytes: expected a size such as 16KiB"},
        {"http: { max_headers: -1 }", "f:1:22: http.max_headers: expected a whole number"},
        {"http:", "f:1:1: http: expected a mapping, got nothing"},
        {"http: { max_chunk_line_bytes: 15 }",
         "f:1:31: http.max_chunk_line_bytes: too small, the minimum is 16"},
        {"http: { max_chunk_extension_bytes: 17MiB }",
         "f:1:36: http.max_chunk_extension_bytes: too large, the maximum is 16MiB"},
        {"http: { max_trailer_bytes: 15 }", "f:1:28: http.max_trailer_bytes: too small"},
        {"http: { max_pipelined_bytes: 0 }",
         "f:1:30: http.max_pipelined_bytes: too small, the minimum is 1KiB"},
        {"http: { max_refused_body_bytes: 1025MiB }",
         "f:1:33: http.max_refused_body_bytes: too large, the maximum is 1GiB"},
        {"http: { linger_timeout: 0s }", "f:1:25: http.linger_timeout: too small"},
        {"http: { max_linger_bytes: 2s }", "f:1:27: http.max_linger_bytes: expected a size"},
        {"admin: { hosts: [gw, \"gw:9901\"] }",
         "f:1:22: admin.hosts[1]: expected a host name without a port, got \"gw:9901\""},
        {"admin: { max_connections: 0 }",
         "f:1:27: admin.max_connections: too small, the minimum is 1"},
        {"admin: { timeout: 2h }", "f:1:19: admin.timeout: too large, the maximum is 1h"},
        {"admin: { token_file: /nowhere }",
         "f:1:22: admin.token_file: \"/nowhere\" cannot be read: No such file"},
        {"admin: { token_file: /tmp }",
         "f:1:22: admin.token_file: \"/tmp\" cannot be read: it is no regular file"},
        {"admin: { token_file: [] }", "f:1:22: admin.token_file: expected"},
        {"log: { max_backlog_bytes: 1 }",
         "f:1:27: log.max_backlog_bytes: too small, the minimum is 64KiB"},
        {"log: { flush_timeout: 2h }", "f:1:23: log.flush_timeout: too large, the maximum is 1h"},
        {"log: { max_lines_per_second: 0 }",
         "f:1:30: log.max_lines_per_second: too small, the minimum is 1"},
        {"log: { level: warn }",
         "f:1:15: log.level: expected debug, info, warning or error, got \"warn\", did you mean"},
        {"log: { access: yes }",
         "f:1:16: log.access: expected true or false, unquoted, got \"yes\""},
        {"log: { access: \"true\" }", "f:1:16: log.access: expected true or false, unquoted"},
        {"log: { access: True }", "f:1:16: log.access: expected true or false, unquoted"},
        {"response_headers: { reset: unix }",
         "f:1:28: response_headers.reset: expected delta or epoch"},
        {"response_headers: { ratelimt: true }",
         "f:1:21: response_headers.ratelimt: unknown key, did you mean \"ratelimit\"?"},
    });
}

TEST(bad_files, a_listener_has_the_standard_address_of_the_admin_api)
{
    std::string text = sample{}.text();
    text.replace(text.find("127.0.0.1:8080"), 14, "127.0.0.1:9901");
    EXPECT_THAT(problems_of(text), HasSubstr("f: admin.address: a listener has the same address"));
}

TEST(bad_files, listeners)
{
    expect_complaints({
        {"listeners: []", "f:1:12: listeners: at least one listener is needed"},
        {"listeners: 0.0.0.0:80", "f:1:12: listeners: expected a list, got a plain value"},
        {"listeners: [0.0.0.0:80]",
         "f:1:13: listeners[0]: expected a mapping, got a plain value: write \"address: \" before "
         "it"},
        {"listeners: [{}]", "f:1:13: listeners[0].address: missing"},
        {"listeners: [{address: \"localhost:80\"}]",
         "f:1:23: listeners[0].address: the host must be an IP address"},
        {"listeners: [{address: 0.0.0.0}]", "f:1:23: listeners[0].address: the port is missing"},
        {"listeners: [{address: \"[::1]\"}]",
         "f:1:23: listeners[0].address: the port is missing: expected host:port, got \"[::1]\""},
        {"listeners: [{address: \"::1:80\"}]",
         "f:1:23: listeners[0].address: an IPv6 address, and nothing else, needs brackets"},
        {"listeners: [{address: \"[::1]:80\"}, {address: \"[0::1]:80\"}]",
         "f:1:46: listeners[1].address: a listener above has the same address"},
        {"listeners: [{address: 0.0.0.0:80, tls: {}}]",
         "f:1:40: listeners[0].tls.certificates: missing: this key has no default"},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [{cert: /etc/passwd}]}}]",
         "f:1:56: listeners[0].tls.certificates[0].key: missing: this key has no default"},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [{cert: /etc/passwd, key: "
         "/nowhere}]}}]",
         "f:1:81: listeners[0].tls.certificates[0].key: \"/nowhere\" cannot be read"},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [{cert: /etc/passwd, key: "
         "/etc/passwd}]}}]",
         "f:1:55: listeners[0].tls.certificates[0].cert: expected certificates in PEM form"},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [], client_certificates: "
         "require}}]",
         "f:1:80: listeners[0].tls.client_certificates: \"client_ca\" must say who vouches for "
         "clients"},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [], ciphers: \"\"}}]",
         "f:1:68: listeners[0].tls.ciphers: must not be empty: leave the key out for \"modern\""},
        {"listeners: [{address: 0.0.0.0:80, tls: {certificates: [], tickets_file: /nowhere}}]",
         "f:1:73: listeners[0].tls.tickets_file: \"/nowhere\" cannot be read: No such file"},
        {"listeners: [{address: 0.0.0.0:80, decide: yes}]",
         "f:1:43: listeners[0].decide: expected true or false"},
        {"listeners: [{address: 0.0.0.0:80, decide: {rejected_status: 404}}]",
         "f:1:61: listeners[0].decide.rejected_status: expected 403, 429 or 503"},
        {"listeners: [{address: 0.0.0.0:80, decide: {status: 403}}]",
         "f:1:44: listeners[0].decide.status: unknown key"},
        {"listeners: [{address: 0.0.0.0:80, proxy_protocol: 2}]",
         "f:1:51: listeners[0].proxy_protocol: expected true or false"},
        {"listeners: [{address: 0.0.0.0:80}, {address: 0.0.0.0:81, proxy_protocol: true}]",
         "f:1:74: listeners[1].proxy_protocol: takes connections of client.trusted_proxies only, "
         "and there are none: list your load balancer's addresses there"},
        {"listeners: [{port: 80}]",
         "f:1:14: listeners[0].port: unknown key: a port stands behind its host, as in "
         "127.0.0.1:8080"},
    });
    EXPECT_THAT(problems_of("workers: 1\n"), HasSubstr("f:1:1: listeners: missing"));
}

TEST(bad_files, client)
{
    expect_complaints({
        {"client: { trusted_proxies: 10.0.0.0/8 }",
         "f:1:28: client.trusted_proxies: expected a list"},
        {"client: { trusted_proxies: [10.0.0.1/8] }",
         "f:1:29: client.trusted_proxies[0]: expected an address or a prefix"},
        {"client: { trusted_hops: 101 }",
         "f:1:25: client.trusted_hops: too large, the maximum is 100"},
        {"client: { header: \"X Y\" }", "f:1:19: client.header: expected the name of a header"},
        {"client: { header: Connection }", "f:1:19: client.header: Connection never holds the"},
        {"client: { header: host }", "f:1:19: client.header: host never holds the address"},
        {"client: { ipv4_prefix: 33 }", "f:1:24: client.ipv4_prefix: too large, the maximum is 32"},
        {"client: { ipv6_prefix: 0 }", "f:1:24: client.ipv6_prefix: too small, the minimum is 1"},
    });
}

TEST(bad_files, stores)
{
    expect_complaints({
        {"stores: { local: { max_buckets: 0 } }", "f:1:33: stores.local.max_buckets: too small"},
        {"stores: { local: { on_full: drop } }",
         "f:1:29: stores.local.on_full: expected share or reject"},
        {"stores: { local: { url: redis://h } }", "f:1:20: stores.local.url: unknown key"},
        {"stores: { s: {} }", "f:1:14: stores.s.url: missing"},
        {"stores: { s: redis://h }", "f:1:14: stores.s: expected a mapping, got a plain value"},
        {"stores: { s: { url: memcached://h } }",
         "f:1:21: stores.s.url: stores of the kind memcached:// are not supported yet"},
        {"stores: { s: { url: redis-cluster://h, key_prefix: \"a{b\" } }",
         "f:1:52: stores.s.key_prefix: a cluster wants a prefix without braces"},
        {"stores: { s: { url: redis://hunter2@h } }",
         "f:1:21: stores.s.url: a user without a password: write user:password@"},
        {"stores: { s: { url: redis://:p@h, password_file: /etc/gateway/password } }",
         "f:1:50: stores.s.password_file: \"url\" has a password already; leave one out"},
        {"stores: { s: { url: redis://h, sentinel_password_file: /nowhere } }",
         "f:1:56: stores.s.sentinel_password_file: is for a \"url\" that begins with "
         "redis-sentinel:// or rediss-sentinel://"},
        {"stores: { s: { url: redis-sentinel://h/m, sentinel_password_file: /nowhere } }",
         "f:1:67: stores.s.sentinel_password_file: \"/nowhere\" cannot be read"},
        {"stores: { s: { url: redis-sentinel://h/m, tls: { verify: true } } }",
         "f:1:48: stores.s.tls: is for a \"url\" that begins with rediss://"},
        {"stores: { s: { url: redis://h, password_file: /nowhere } }",
         "f:1:47: stores.s.password_file: \"/nowhere\" cannot be read"},
        {"stores: { s: { url: redis://h, tls: { verify: false } } }",
         "f:1:37: stores.s.tls: is for a \"url\" that begins with rediss://, rediss-sentinel:// or "
         "rediss-cluster://; in postgresql:// say sslmode, sslrootcert, sslcert and sslkey"},
        {"stores: { s: { url: rediss://h, tls: { ca: /nowhere } } }",
         "f:1:44: stores.s.tls.ca: \"/nowhere\" cannot be read"},
        {"stores: { s: { url: rediss://h, tls: { ca: /etc/passwd } } }",
         "f:1:44: stores.s.tls.ca: expected certificates in PEM form"},
        {"stores: { s: { url: rediss://h, tls: { cert: /etc/passwd } } }",
         "f:1:46: stores.s.tls.cert: \"cert\" and \"key\" belong together"},
        {"stores: { s: { url: rediss://h, tls: { server_name: \"a b\" } } }",
         "f:1:53: stores.s.tls.server_name: expected a host name or an IP address"},
        {"stores: { s: { url: redis://h, timeout: 11s } }",
         "f:1:41: stores.s.timeout: too large, the maximum is 10s"},
        {"stores: { s: { url: redis://h, key_prefix: \"a b\" } }",
         "f:1:44: stores.s.key_prefix: expected at most 64"},
        {"stores: { s: { url: redis://h, max_pending: 1023 } }",
         "f:1:45: stores.s.max_pending: too small, the minimum is 1024"},
        {"stores: { s: { url: redis://h, breaker: 5 } }",
         "f:1:41: stores.s.breaker: expected a mapping, got a plain value"},
        {"stores: { s: { url: redis://h, breaker: { failures: 0 } } }",
         "f:1:53: stores.s.breaker.failures: too small, the minimum is 1"},
        {"stores: { s: { url: redis://h, breaker: { window: 2m } } }",
         "f:1:51: stores.s.breaker.window: too large, the maximum is 1m"},
        {"stores: { s: { url: redis://h, breaker: { pause: 1s } } }",
         "f:1:50: stores.s.breaker.pause: too large, the maximum is 700ms"},
        {"stores: { s: { url: redis://h, breaker: { decisons: 1 } } }",
         "f:1:43: stores.s.breaker.decisons: unknown key, did you mean \"decisions\"?"},
        {"stores: { s: { url: redis://256.1.1.1 } }",
         "f:1:21: stores.s.url: the host must be a name or an IP address"},
        {"stores: { \"a b\": { url: redis://h } }", "f:1:11: stores.\"a b\": a name is 1 to 64 of"},
        {"stores: { s: { url: redis://h }, s: { url: redis://h } }",
         "f:1:34: stores.s: duplicate key, first on line 1"},
    });
}

TEST(bad_files, routes)
{
    expect_complaints({
        {"routes: []", "f:1:9: routes: at least one route is needed"},
        {"routes: { upstream: u }", "f:1:9: routes: expected a list, got a mapping"},
        {"routes: [{}]", "f:1:10: routes[0].upstream: missing"},
        {"routes: [{ upstream: uu }]",
         "f:1:22: routes[0].upstream: unknown upstream \"uu\", did you mean \"u\"?"},
        {"routes: [{ upstream: u, limits: [b] }]",
         "f:1:34: routes[0].limits[0]: unknown limit \"b\""},
        {"routes: [{ upstream: u, limits: a }]",
         "f:1:33: routes[0].limits: expected a list, got a plain value"},
        {"routes: [{ upstream: u, limits: }]",
         "f:1:25: routes[0].limits: expected a list, got nothing"},
        {"routes: [{ upstream: u, limits: [a, a] }]",
         "f:1:37: routes[0].limits[1]: this limit is listed already"},
        {"routes: [{ upstream: u, limits: [a,a,a,a,a,a,a,a,a] }]",
         "f:1:50: routes[0].limits: too many elements, the maximum is 8"},
        {"routes: [{ upstream: u, match: { path: v1 } }]",
         "f:1:40: routes[0].match.path: a path begins with '/'"},
        {"routes: [{ upstream: u, match: { path: \"/a?b\" } }]",
         "f:1:40: routes[0].match.path: a path has no query"},
        {"routes: [{ upstream: u, match: { path: /a;b } }]",
         "f:1:40: routes[0].match.path: parameters"},
        {"routes: [{ upstream: u, match: { path: /a/../../b } }]",
         "f:1:40: routes[0].match.path: no request can match: the path has a .. segment"},
        {"routes: [{ upstream: u, match: { path: /%zz } }]",
         "f:1:40: routes[0].match.path: no request can match: the path has a malformed"},
        {"routes: [{ upstream: u, match: { path: /a%3Bx%2Fb } }]",
         "f:1:40: routes[0].match.path: no request can match: the path has an encoded separator"},
        {"routes: [{ upstream: u, match: { path: /a, path_exact: /b } }]",
         "f:1:56: routes[0].match.path_exact: a route has either path or path_exact"},
        {"routes: [{ upstream: u, match: { host: \"a.example:80\" } }]",
         "f:1:40: routes[0].match.host: expected a host name without a port"},
        {"routes: [{ upstream: u, match: { host: \"*\" } }]",
         "f:1:40: routes[0].match.host: leave the key out to match any host"},
        {"routes: [{ upstream: u, match: { host: \"*.\" } }]",
         "f:1:40: routes[0].match.host: expected a host name behind \"*.\""},
        {"routes: [{ upstream: u, match: { host: \"*.192.0.2.1\" } }]",
         "f:1:40: routes[0].match.host: expected a host name behind \"*.\""},
        {"routes: [{ upstream: u, match: { host: \"a.*.example.com\" } }]",
         "f:1:40: routes[0].match.host: expected a host name without a port"},
        {"routes: [{ upstream: u, match: { host: \"*.*.example.com\" } }]",
         "f:1:40: routes[0].match.host: expected a host name behind \"*.\""},
        {"routes: [{ upstream: u, match: { methods: [] } }]",
         "f:1:43: routes[0].match.methods: empty: leave the key out"},
        {"routes: [{ upstream: u, match: { methods: [get] } }]",
         "f:1:44: routes[0].match.methods[0]: methods are case-sensitive: write GET"},
        {"routes: [{ upstream: u, match: { methods: [CONNECT] } }]",
         "f:1:44: routes[0].match.methods[0]: CONNECT is never served"},
        {"routes: [{ upstream: u, match: { methods: [GET, GET] } }]",
         "f:1:49: routes[0].match.methods[1]: this method is listed already"},
        {"routes: [{ upstream: u, match: { methods: [\"G T\"] } }]",
         "f:1:44: routes[0].match.methods[0]: expected a method"},
        {"routes: [{ upstream: u, match: { path: /v1/ } },\n { upstream: u, match: { path: "
         "/%76//1/../../v1 } }]",
         "f:2:32: routes[1].match.path: no request can match: the path has a .. segment"},
        {"routes: [{ upstream: u, match: { path: /v1/ } },\n { upstream: u, match: { path: /./%761 "
         "} }]",
         "f:2:2: routes[1]: matches the same requests as routes[0]"},
        {"routes: [{ upstream: u, match: { methods: [A, B], host: H.example. } },\n { upstream: u, "
         "match: { methods: [B, A], host: h.example } }]",
         "f:2:2: routes[1]: matches the same requests as routes[0]"},
        {"routes: [{ upstream: u, name: x },\n { upstream: u, name: x, match: { path: /b } }]",
         "f:2:2: routes[1].name: has the same name as routes[0]: \"x\""},
        {"routes: [{ upstream: u, name: none }]",
         "f:1:31: routes[0].name: \"none\" is what metrics call requests that no route matches"},
        {"routes: [{ upstream: u, match: { host: 1.2.3 } }]",
         "f:1:40: routes[0].match.host: expected a host name"},
        {"routes: [{ upstream: u, name: \"\" }]",
         "f:1:31: routes[0].name: expected 1 to 4096 printable"},
    });
}

TEST(bad_files, upstreams)
{
    expect_complaints({
        {"upstreams: {}", "f:7:50: routes[0].upstream: unknown upstream \"u\""},
        {"upstreams: { u: { servers: [] } }",
         "f:1:28: upstreams.u.servers: at least one server is needed"},
        {"upstreams: { u: {} }", "f:1:17: upstreams.u.servers: missing"},
        {"upstreams: { u: { servers: [app] } }",
         "f:1:29: upstreams.u.servers[0]: the port is missing"},
        {"upstreams: { u: { servers: [\"http://app:80\"] } }",
         "f:1:29: upstreams.u.servers[0]: a URL, and an address is expected: write \"app:80\", "
         "without "
         "the scheme"},
        {"upstreams: { u: { servers: [\"https://app\"] } }",
         "f:1:29: upstreams.u.servers[0]: expected host:port, and \"tls: {}\" beside \"servers\""},
        {"upstreams: { u: { servers: [echo, echo] } }",
         "f:1:35: upstreams.u.servers[1]: the same server is listed above"},
        {"upstreams: { u: { servers: [echo], connect_timeout: 2h } }",
         "f:1:53: upstreams.u.connect_timeout: too large, the maximum is 1h"},
        {"upstreams: { u: { servers: [echo], max_idle: 10001 } }",
         "f:1:46: upstreams.u.max_idle: too large, the maximum is 10000"},
        {"upstreams: { u: { servers: [echo], idle_timeout: 0s } }",
         "f:1:50: upstreams.u.idle_timeout: too small, the minimum is 1ms"},
        {"upstreams: { u: { servers: [echo], max_response_header_bytes: 2MiB } }",
         "f:1:63: upstreams.u.max_response_header_bytes: too large, the maximum is 1MiB"},
        {"upstreams: { u: { servers: [echo], max_response_headers: 0 } }",
         "f:1:58: upstreams.u.max_response_headers: too small, the minimum is 1"},
        {"upstreams: { u: { servers: [echo], max_interim_responses: 1001 } }",
         "f:1:59: upstreams.u.max_interim_responses: too large, the maximum is 1000"},
        {"upstreams: { u: { servers: [echo], resolver: { refresh: 1ms } } }",
         "f:1:57: upstreams.u.resolver.refresh: too small, the minimum is 1s"},
        {"upstreams: { u: { servers: [echo], resolver: { retry: 2h } } }",
         "f:1:55: upstreams.u.resolver.retry: too large, the maximum is 1h"},
        {"upstreams: { u: { servers: [echo], resolver: { max_addresses: 0 } } }",
         "f:1:63: upstreams.u.resolver.max_addresses: too small, the minimum is 1"},
        {"upstreams: { u: { servers: [\"256.1.1.1:80\"] } }",
         "f:1:29: upstreams.u.servers[0]: the host ends in a number, but is no IPv4 address"},
        {"upstreams: { u: { servers: [{ weight: 2 }] } }",
         "f:1:29: upstreams.u.servers[0].address: missing"},
        {"upstreams: { u: { servers: [{ address: echo, weight: 0 }] } }",
         "f:1:54: upstreams.u.servers[0].weight: too small, the minimum is 1"},
        {"upstreams: { u: { servers: [{ address: echo, wieght: 2 }] } }",
         "f:1:46: upstreams.u.servers[0].wieght: unknown key, did you mean \"weight\"?"},
        {"upstreams: { u: { servers: [echo, { address: echo }] } }",
         "f:1:46: upstreams.u.servers[1].address: the same server is listed above"},
        {"upstreams: { u: { servers: [{ address: echo, max_connections: 1000001 }] } }",
         "f:1:63: upstreams.u.servers[0].max_connections: too large, the maximum is 1000000"},
        {"upstreams: { u: { servers: [echo], balance: random } }",
         "f:1:45: upstreams.u.balance: expected least_requests, round_robin or hash"},
        {"upstreams: { u: { servers: [echo], retry_budget: 101 } }",
         "f:1:50: upstreams.u.retry_budget: too large, the maximum is 100"},
        {"upstreams: { u: { servers: [\"a:1\"], proxy_protocol: v1 } }",
         "f:1:53: upstreams.u.proxy_protocol: expected none or v2"},
        {"upstreams: { u: { servers: [\"a:1\", echo], proxy_protocol: v2 } }",
         "f:1:59: upstreams.u.proxy_protocol: the built-in echo server does not read it"},
        {"upstreams: { u: { servers: [\"a:1\", echo], tls: {} } }",
         "f:1:48: upstreams.u.tls: the built-in echo server does not speak it"},
        {"upstreams: { u: { servers: [\"unix:/s\"], tls: {} } }",
         "f:1:46: upstreams.u.tls: a Unix socket has no name that a certificate could be for: add "
         "server_name, the name that its server's certificate has"},
        {"upstreams: { u: { servers: [\"a:1\"], tls: { ca: no-such.pem } } }",
         "f:1:48: upstreams.u.tls.ca: \"no-such.pem\" cannot be read: No such file or directory"},
        {"upstreams: { u: { servers: [\"a:1\"], tls: { server_name: \"a b\" } } }",
         "f:1:57: upstreams.u.tls.server_name: expected a host name or an IP address, got \"a b\""},
        {"upstreams: { u: { servers: [echo], queue_timeout: 0s } }",
         "f:1:51: upstreams.u.queue_timeout: too small, the minimum is 1ms"},
        {"upstreams: { u: { servers: [echo], ejection: 5 } }",
         "f:1:46: upstreams.u.ejection: expected a mapping, got a plain value"},
        {"upstreams: { u: { servers: [echo], ejection: { time: 9s, max_time: 8s } } }",
         "f:1:68: upstreams.u.ejection.max_time: shorter than time, 9s"},
        {"upstreams: { u: { servers: [echo], ejection: { max_share: 0 } } }",
         "f:1:59: upstreams.u.ejection.max_share: too small, the minimum is 1"},
    });
}

TEST(bad_files, health)
{
    const std::string place = "upstreams: { u: { servers: [echo], health: ";
    expect_complaints({
        {place + "/healthz } }", "f:1:44: upstreams.u.health: expected a mapping"},
        {place + "{} } }", "f:1:44: upstreams.u.health.path: missing"},
        {place + "{ path: healthz } } }",
         "f:1:52: upstreams.u.health.path: expected a path such as /healthz"},
        {place + "{ path: \"/a b\" } } }", "f:1:52: upstreams.u.health.path: expected a path"},
        {place + "{ path: \"/a#b\" } } }", "f:1:52: upstreams.u.health.path: expected a path"},
        {place + "{ path: /, interval: 9ms } } }",
         "f:1:65: upstreams.u.health.interval: too small, the minimum is 10ms"},
        {place + "{ path: /, timeout: 2h } } }",
         "f:1:64: upstreams.u.health.timeout: too large, the maximum is 1h"},
        {place + "{ path: /, unhealthy: 0 } } }",
         "f:1:66: upstreams.u.health.unhealthy: too small, the minimum is 1"},
        {place + "{ path: /, healthy: 101 } } }",
         "f:1:64: upstreams.u.health.healthy: too large, the maximum is 100"},
        {place + "{ path: /, intervall: 1s } } }",
         "f:1:55: upstreams.u.health.intervall: unknown key, did you mean \"interval\"?"},
    });
    for (const char* range : {"100-200", "200-600", "399-200", "200-", "-", "ok", "200-299-399"}) {
        expect_complaints({
            {place + "{ path: /, expected: \"" + range + "\" } } }",
             "f:1:65: upstreams.u.health.expected: expected a status or a range of them"},
        });
    }
}

TEST(bad_files, a_shared_store_bounds_rates_and_routes)
{
    sample s;
    s.stores = "stores:\n  s: { url: redis://h }\n  t: { url: redis://i }\n";
    s.limits =
        "limits:\n"
        "  a: { key: [], rate: 1000001/s, store: s }\n"
        "  b: { key: [], rate: 1000000/s, store: t }\n";
    s.routes = "routes: [{ upstream: u, limits: [a, b] }]\n";
    const std::string problems = problems_of(s.text());
    EXPECT_THAT(
        problems,
        HasSubstr("f:5:23: limits.a.rate: too fast for a shared store, the maximum is one token "
                  "per microsecond")
    );
    EXPECT_THAT(problems, Not(HasSubstr("limits.b")));
    EXPECT_THAT(
        problems,
        HasSubstr("routes[0].limits: limits of two shared stores, \"s\" and \"t\": the limits of "
                  "one route must share one")
    );
}

TEST(bad_files, all_problems_come_at_once_in_the_order_of_the_file)
{
    const std::string text =
        "workers: x\n"
        "log: { level: 1 }\n"
        "limits: { a: { key: nobody, rate: 1 } }\n"
        "upstreams: { u: { servers: [] } }\n"
        "routes: [{ upstream: v }]\n";
    try {
        load_text(text, "f");
        FAIL();
    } catch (const config_error& e) {
        std::vector<int> lines;
        for (const problem& p : e.problems()) {
            lines.push_back(p.at.line);
        }
        EXPECT_THAT(lines, testing::ElementsAre(1, 1, 2, 3, 3, 4, 5));
    }
}

TEST(bad_files, other_spellings_are_answered_with_ours)
{
    expect_complaints({
        {"drain_timeout: 1min",
         "f:1:16: drain_timeout: expected a duration such as 250ms, 2s, 5m, 1h or 1d, got "
         "\"1min\", did you mean \"1m\"?"},
        {"http: { max_body_bytes: 10m }",
         "f:1:25: http.max_body_bytes: expected a size such as 16KiB, 1MiB or plain bytes, got "
         "\"10m\", did you mean \"10MiB\"?"},
        {"limits: { a: { key: [], rate: 10/sec } }",
         "f:1:31: limits.a.rate: expected a rate such as 100/m or 10/10s, got \"10/sec\", did you "
         "mean \"10/s\"?"},
        {"limits: { a: { key: [], rate:10/s } }",
         "f:1:25: limits.a.\"rate:10/s\": unknown key: a space is missing after \"rate:\""},
        {"limits: { a: { key: { header: X-Key }, rate: 1/s } }",
         "f:1:21: limits.a.key: write it without a space: \"header:X-Key\""},
        {"limits: { a: { key: [path, cookie: sid], rate: 1/s } }",
         "f:1:28: limits.a.key[1]: write it without a space: \"cookie:sid\""},
        {"limits: { a: { key: { path: x }, rate: 1/s } }",
         "f:1:21: limits.a.key: expected client_ip, client_ip/BITS, header:NAME, cookie:NAME, "
         "query:NAME, jwt:CLAIM, json:PATH, cert:fingerprint, cert:subject, cert:san, "
         "descriptor:KEY, method, "
         "host, path or route, got a mapping"},
        {"upstreams: { u: { servers: [echo], health_checks: {} } }",
         "f:1:36: upstreams.u.health_checks: unknown key, did you mean \"upstreams.NAME.health\"?"},
        {"websockets: true", "f:1:1: websockets: unknown key: WebSockets pass without one"},
    });
}

TEST(bad_files, variables_are_not_expanded_wherever_they_stand)
{
    for (const char* text :
         {"workers: ${N}",
          "drain_timeout: ${T}",
          "max_connections: ${N}",
          "log: { level: \"${LEVEL}\" }",
          "listeners: [{address: \"${HOST}:80\"}]",
          "stores: { s: { url: \"redis://:${PASSWORD}@h\" } }",
          "stores: { s: { url: redis://h, key_prefix: \"${X}\" } }",
          "limits: { a: { key: \"header:${X}\", rate: 1/s } }",
          "limits: { a: { key: [], rate: \"${RATE}/s\" } }",
          "routes: [{ upstream: \"${U}\" }]",
          "stores: { s: { url: ${URL} } }"}) {  // not even YAML
        EXPECT_THAT(problems_of(file_with(text)), HasSubstr("${...} is not expanded: write the"))
            << text;
    }
}

TEST(bad_files, what_is_not_yaml_is_answered_with_what_is_probably_wrong)
{
    expect_complaints({
        {"limits:\n  a:\n    key: header: X",
         "f:3:16: not valid YAML: illegal map value; line 3: a part of a key is written without a "
         "space: header:NAME"},
        {"limits:\n  a:\n\tkey: []",
         "f:3:2: not valid YAML: end of map not found; line 3: indent "},
        {"listeners:\n  - address: [::]:80",
         "f:2:18: not valid YAML: end of map not found; line 2: a value that begins with [::"},
        {"routes: [\n  { match: { host: *.example.com } }]",
         "f:2:20: not valid YAML: the referenced anchor is not defined"},
        {"limits:\n  a:\n    key: []\n    rate:10/s",
         "f:5:10: not valid YAML: illegal map value; line 4: a space is missing after the colon"},
        {"workers: ]", "f:1:10: not valid YAML:"},
    });
    // yaml-cpp 0.8 names the anchor in between.
    EXPECT_THAT(
        problems_of("routes: [\n  { match: { host: *.example.com } }]"),
        HasSubstr("; line 2: a value that begins with")
    );
    EXPECT_THAT(problems_of("workers: ]"), HasSubstr("(the mistake may be on the line before)"));
}

TEST(bad_files, a_failure_policy_without_a_shared_store_is_warned_of)
{
    const auto warnings = [](const std::string& more) {
        sample s;
        s.stores = "stores: { s: { url: redis://h } }\n";
        s.limits = "limits:\n  a: { key: [], rate: 1/s" + more +
                   " }\n"
                   "  b: { key: [], rate: 1/s, store: s }\n";
        s.routes = "routes: [{ upstream: u, limits: [a, b] }]\n";
        return s.load().warnings;
    };
    for (const char* policy : {"closed", "local"}) {
        const std::string written = std::string{", on_store_failure: "} + policy;
        EXPECT_THAT(
            warnings(written),
            testing::ElementsAre("f:3:46: limits.a.on_store_failure: has no effect with store: "
                                 "local, which does not fail")
        );
        EXPECT_THAT(warnings(written + ", store: s"), testing::IsEmpty());
    }
    EXPECT_THAT(warnings(", on_store_failure: open"), testing::IsEmpty());
    EXPECT_THAT(warnings(""), testing::IsEmpty());
}

TEST(bad_files, a_parameter_of_libpq_that_says_nothing_is_warned_of)
{
    const auto warnings = [](const std::string& parameters) {
        sample s;
        s.stores = "stores: { s: { url: 'postgresql://h/d" + parameters + "' } }\n";
        s.limits = "limits:\n  a: { key: [], rate: 1/s, store: s }\n";
        return s.load().warnings;
    };
    EXPECT_THAT(
        warnings("?connect_timeout=10"),
        testing::ElementsAre("f:1:21: stores.s.url: the parameter connect_timeout has no effect: "
                             "\"timeout\" of the store counts instead")
    );
    EXPECT_THAT(warnings("?target_session_attrs=primary"), testing::IsEmpty());
}

TEST(bad_files, a_lease_of_hardly_any_tokens_is_warned_of)
{
    const auto warnings = [](const std::string& numbers) {
        sample s;
        s.stores = "stores: { s: { url: redis://h } }\n";
        s.limits = "limits:\n  a: { key: [], store: s, lease: { share: 10% }, " + numbers + " }\n";
        return s.load().warnings;
    };
    for (const char* few : {"rate: 3/s, burst: 1000", "rate: 1000/s, burst: 39"}) {
        EXPECT_THAT(
            warnings(few),
            testing::ElementsAre(
                "f:3:34: limits.a.lease: has no effect: its share of the burst, and "
                "what comes back in its time, must each be 4 tokens at least"
            )
        );
    }
    EXPECT_THAT(warnings("rate: 4/s, burst: 40"), testing::IsEmpty());
    EXPECT_EQ(warnings("rate: 8/s, burst: 80, shards: 4").size(), 1U) << "of a part";
}

TEST(bad_files, settlements_of_sliding_limits_are_warned_of)
{
    const auto warnings = [](const std::string& keys) {
        sample s;
        s.limits = "limits:\n  a: { key: [], rate: 9/s, " + keys + " }\n";
        return s.load().warnings;
    };
    const std::string settles = ", settle: { header: x, max: 9 }";
    for (const char* algorithm : {"sliding_window", "sliding_log"}) {
        const std::string slides = std::string{"algorithm: "} + algorithm;
        EXPECT_THAT(
            warnings("settle: { json: a }, " + slides),
            testing::ElementsAre(
                "f:2:36: limits.a.settle: a response that costs more than its request has taken is "
                "forgotten after one window, so that clients may exceed the limit: use "
                "token_bucket or fixed_window, which keep the debt"
            )
        );
        EXPECT_EQ(warnings(slides + settles).size(), 1U);
        EXPECT_EQ(warnings(slides + settles + ", cost: { header: c, max: 9 }").size(), 1U);
        EXPECT_THAT(warnings(slides + settles + ", cost: 9"), testing::IsEmpty());
        EXPECT_THAT(warnings(slides), testing::IsEmpty());
    }
    EXPECT_THAT(warnings("algorithm: fixed_window" + settles), testing::IsEmpty());
    EXPECT_THAT(warnings("burst: 9" + settles), testing::IsEmpty());
}

TEST(bad_files, places_for_questions_of_other_proxies_are_warned_of)
{
    const auto warnings = [](const std::string& listener, const std::string& limit) {
        sample s;
        s.listeners = "listeners: [{ address: 127.0.0.1:8080" + listener + " }]\n";
        s.limits = "limits:\n  a: { key: [], " + limit + " }\n";
        return s.load().warnings;
    };
    const std::string places = "algorithm: concurrency, max: 2";
    EXPECT_THAT(
        warnings(", decide: true", places),
        testing::ElementsAre(testing::StartsWith(
            "f:2:6: limits.a: does not limit what listeners with \"decide\" are asked about"
        ))
    );
    EXPECT_THAT(warnings("", places), testing::IsEmpty());
    EXPECT_THAT(warnings(", decide: true", "rate: 1/s"), testing::IsEmpty());
}

// Otherwise a large file of misspelt names would hold a reload for seconds.
TEST(bad_files, names_are_suggested_for_the_first_misspelt_ones_only)
{
    sample s;
    s.limits = "limits:\n";
    for (int i = 0; i < 1000; ++i) {
        s.limits += "  limit" + std::to_string(1000 + i) + ": { key: [], rate: 1/s }\n";
    }
    s.routes = "routes:\n";
    for (int i = 0; i < 20; ++i) {
        s.routes += "  - { upstream: u, limits: [limit1500x] }\n";
    }
    const std::string problems = problems_of(s.text());
    for (int i = 0; i < 20; ++i) {
        const std::string hint = i < 10 ? ", did you mean \"limit1500\"?\n" : "\n";
        EXPECT_THAT(
            problems + "\n",
            HasSubstr(
                "routes[" + std::to_string(i) + "].limits[0]: unknown limit \"limit1500x\"" + hint
            )
        );
    }
}

TEST(bad_files, a_password_is_never_repeated)
{
    for (const char* text :
         {"stores: { s: { url: \"redis://:hunter2@h/x\" } }",
          "stores: { s: { uri: \"redis://:hunter2@h\" } }",
          "stores: { s: \"redis://:hunter2@h\" }",
          "stores: { s: { url: redis://h, timeout: \"redis://:hunter2@h\" } }",
          "stores: { s: { url: [\"redis://:hunter2@h\"] } }",
          "workers: redis://:hunter2@h",
          "stores: { \"redis://:hunter2@h\": {} }",
          "limits: { a: { key: [], rate: 1/s, store: \"redis://:hunter2@h\" } }"}) {
        const std::string problems = problems_of(file_with(text));
        EXPECT_NE(problems, "") << text;
        EXPECT_THAT(problems, Not(HasSubstr("hunter2")));
    }
}

}  // namespace bad_files_test
}  // namespace gateway::config
