// Every kind of mistake in a limit, where it is reported, and in which words.
#include "tests/unit/config/complaints.hpp"

#include <gtest/gtest.h>

namespace gateway::config {
namespace bad_limits_test {

TEST(bad_limits, are_refused)
{
    expect_complaints({
        {"limits: [a]", "f:1:9: limits: expected a mapping, got a list"},
        {"limits:\n  a:\n    key: client_ip\n    rate: 1/s\n    bursst: 5",
         "f:5:5: limits.a.bursst: unknown key, did you mean \"burst\"?"},
        {"limits: { a: { rate: 1/s } }", "f:1:14: limits.a.key: missing"},
        {"limits: { a: { key: [] } }", "f:1:14: limits.a.rate: missing"},
        {"limits: { a: { key: [], rate: 100 } }",
         "f:1:31: limits.a.rate: expected a rate such as 100/m or 10/10s, got \"100\""},
        {"limits: { a: { key: [], rate: 0/s } }", "f:1:31: limits.a.rate: expected a rate"},
        {"limits: { a: { key: [], rate: 2000000000/s } }",
         "f:1:31: limits.a.rate: too fast, the maximum is one token per nanosecond"},
        {"limits: { a: { key: [], rate: 1/36501d } }",
         "f:1:31: limits.a.rate: a refill of 1 tokens would take too long, the maximum is 100 "
         "years"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 1/d, capacity: 36501 } }",
         "f:1:71: limits.a.capacity: a refill of 36501 tokens would take too long"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/d, burst: 9 } }",
         "f:1:68: limits.a.burst: not a key of a fixed_window, whose buckets hold \"capacity\""},
        {"limits: { a: { key: [], rate: 9/d, capacity: 9 } }",
         "f:1:46: limits.a.capacity: only for \"algorithm: fixed_window\""},
        {"limits: { a: { key: [], rate: 9/d, start: aligned } }",
         "f:1:43: limits.a.start: only for"},
        {"limits: { a: { key: [], rate: 9/mo } }",
         "f:1:31: limits.a.rate: months differ in length: write 30d, or \"algorithm: "
         "fixed_window\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/mo } }",
         "f:1:14: limits.a.start: missing: a month begins at a wall-clock time"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/h, start: \"08:00\" } }",
         "f:1:68: limits.a.start: expected \"aligned\", or of a rate per d \"08:00\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/mo, start: \"29 08:00\" } }",
         "f:1:69: limits.a.start: expected \"aligned\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/d, start: \"24:00\" } }",
         "f:1:68: limits.a.start: expected \"aligned\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/d, start: \"08:00\", "
         "time_zone: Mars/Olympus } }",
         "f:1:88: limits.a.time_zone: not in the tz database (of the package tzdata): "
         "\"Mars/Olympus\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/d, time_zone: UTC } }",
         "f:1:72: limits.a.time_zone: has no effect without a \"start\" at a wall-clock time"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 9/d, start: \"08:00\", "
         "capacity: 541 } }",
         "f:1:87: limits.a.capacity: more than 60 times the count in \"rate\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 1001/1ms } }",
         "f:1:56: limits.a.rate: too fast, the maximum is one token per microsecond"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 5/d, cost: 6 } }",
         "f:1:67: limits.a.cost: more than the capacity of 5: no request could ever pass"},
        {"limits: { a: { key: [], rate: 1/d, burst: 36501 } }",
         "f:1:43: limits.a.burst: a refill of 36501 tokens would take too long"},
        {"limits: { a: { key: [], rate: 1/s, max_wait: 11m } }",
         "f:1:46: limits.a.max_wait: too large, the maximum is 10m"},
        {"limits: { a: { key: [], rate: 1/s, max_reserved: 9 } }",
         "f:1:50: limits.a.max_reserved: has no effect without \"max_wait\""},
        {"limits: { a: { key: [], algorithm: sliding_log, rate: 10001/s } }",
         "f:1:55: limits.a.rate: too many for a sliding_log, the maximum is 10000: a "
         "sliding_window counts more"},
        {"limits: { a: { key: [], algorithm: sliding_window, rate: 1/m, burst: 2 } }",
         "f:1:70: limits.a.burst: only for \"algorithm: token_bucket\""},
        {"limits: { a: { key: [], algorithm: sliding_log, rate: 1/m, resolution: 2 } }",
         "f:1:72: limits.a.resolution: only for \"algorithm: sliding_window\""},
        {"limits: { a: { key: [], algorithm: sliding_window, rate: 1/m, resolution: 65 } }",
         "f:1:75: limits.a.resolution: too large, the maximum is 64"},
        {"limits: { a: { key: [], algorithm: concurrency } }",
         "f:1:14: limits.a.max: missing: this key has no default"},
        {"limits: { a: { key: [], algorithm: concurrency, max: 1, cost: 2 } }",
         "f:1:63: limits.a.cost: not for \"algorithm: concurrency\", where a request has one "
         "place"},
        {"limits: { a: { key: [], algorithm: concurrency, max: 0 } }",
         "f:1:54: limits.a.max: too small, the minimum is 1"},
        {"limits: { a: { key: [], rate: 1/s, max: 1 } }",
         "f:1:41: limits.a.max: only for \"algorithm: concurrency\""},
        {"limits: { a: { key: [], rate: 1/s, penalty: { after: 5, within: 1m, ban: 10m } } }",
         "f:1:45: limits.a.penalty.max_ban: missing: this key has no default"},
        {"limits: { a: { key: [], rate: 1/s, penalty: { after: 1001, within: 1m, ban: 2m, max_ban: "
         "1m } } }",
         "f:1:54: limits.a.penalty.after: too large, the maximum is 1000"},
        {"limits: { a: { key: [], rate: 1/s, penalty: { after: 1, within: 1m, ban: 2m, max_ban: "
         "1m } } }",
         "f:1:87: limits.a.penalty.max_ban: shorter than \"ban\""},
        {"limits: { a: { key: [], rate: 9/s, shards: 65 } }",
         "f:1:44: limits.a.shards: too large, the maximum is 64"},
        {"limits: { a: { key: [], rate: 9/s, shards: 0 } }",
         "f:1:44: limits.a.shards: too small, the minimum is 1"},
        {"limits: { a: { key: [], rate: 7/s, shards: 8 } }",
         "f:1:44: limits.a.shards: too few tokens for 8 shards, each of which has one at least"},
        {"limits: { a: { key: [], rate: 99/s, burst: 7, shards: 8 } }",
         "f:1:55: limits.a.shards: too few tokens for 8 shards"},
        {"limits: { a: { key: [], rate: 19/s, cost: 3, shards: 8 } }",
         "f:1:54: limits.a.shards: each of 8 shards holds 2 tokens, and a request may cost 3"},
        {"limits: { a: { key: [], rate: 19/s, cost: { query: n, max: 3 }, shards: 8 } }",
         "f:1:73: limits.a.shards: each of 8 shards holds 2 tokens, and a request may cost 3"},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 99/s, shards: 8 } }",
         "f:1:70: limits.a.shards: needs a \"start\", such as \"aligned\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 19/d, capacity: 1140, start: "
         "\"08:00\", shards: 8 } }",
         "f:1:102: limits.a.shards: each of 8 shards would hold more than 60 times its share of "
         "the count in \"rate\""},
        {"limits: { a: { key: [], algorithm: sliding_log, rate: 99/s, shards: 8 } }",
         "f:1:69: limits.a.shards: only for \"algorithm: token_bucket\", \"fixed_window\" or "
         "\"sliding_window\""},
        {"limits: { a: { key: [], algorithm: concurrency, max: 99, shards: 8 } }",
         "f:1:66: limits.a.shards: only for \"algorithm: token_bucket\""},
        {"limits: { a: { key: [], rate: 99/s, shards: 8, max_wait: 1s } }",
         "f:1:45: limits.a.shards: not with \"max_wait\": requests would wait in several queues"},
        {"limits: { a: { key: [], rate: 99/s, shards: 8, penalty: { after: 5, within: 1m, ban: 1m, "
         "max_ban: 1m } } }",
         "f:1:45: limits.a.shards: not with \"penalty\": a ban would hold for one part of the "
         "bucket"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, local_share: 3/1 } }",
         "f:2:84: limits.a.local_share: expected a part of the limit such as 1/3"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, local_share: 0/3 } }",
         "f:2:84: limits.a.local_share: expected a part of the limit such as 1/3"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, local_share: 1/1001 } }",
         "f:2:84: limits.a.local_share: expected a part of the limit such as 1/3"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, local_share: 33% } }",
         "f:2:84: limits.a.local_share: expected a part of the limit such as 1/3"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, local_share: 1/3/3 } }",
         "f:2:84: limits.a.local_share: expected a part of the limit such as 1/3"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 2/s, store: s, "
         "on_store_failure: local, local_share: 1/3 } }",
         "f:2:84: limits.a.local_share: too few tokens: that part of the limit would be less than "
         "one"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], algorithm: concurrency, "
         "max: 2, store: s, on_store_failure: local, local_share: 1/3 } }",
         "f:2:105: limits.a.local_share: too few tokens"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "local_share: 1/3 } }",
         "f:2:59: limits.a.local_share: has no effect without a shared \"store\" and"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, local_share: 1/3 "
         "} }",
         "f:2:49: limits.a.local_share: has no effect without a shared \"store\" and"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 9/s, store: s, "
         "on_store_failure: local, shards: 2, local_share: 1/3 } }",
         "f:2:95: limits.a.local_share: not with \"shards\""},
        {"limits: { a: { key: [], rate: 99/s, lease: { share: 10% } } }",
         "f:1:44: limits.a.lease: has no effect without a shared \"store\""},
        {"limits: { a: { key: [], algorithm: fixed_window, rate: 99/s, lease: { share: 10% } } }",
         "f:1:69: limits.a.lease: only for \"algorithm: token_bucket\" or \"concurrency\""},
        {"limits: { a: { key: [], algorithm: concurrency, max: 2, lease: { share: 10% } } }",
         "f:1:64: limits.a.lease: expected"},
        {"limits: { a: { key: [], algorithm: concurrency, max: 2, lease: 10s } }",
         "f:1:64: limits.a.lease: has no effect without a shared \"store\""},
        {"limits: { a: { key: [], rate: 99/s, lease: 10s } }",
         "f:1:44: limits.a.lease: expected a mapping"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "lease: { share: 51% } } }",
         "f:2:63: limits.a.lease.share: expected a part of the burst from 1% to 50%"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "lease: { share: 1/10 } } }",
         "f:2:63: limits.a.lease.share: expected a part of the burst from 1% to 50%"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "lease: { time: 1s } } }",
         "f:2:54: limits.a.lease.share: missing: this key has no default"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "lease: { share: 10%, time: 11s } } }",
         "f:2:74: limits.a.lease.time: too large, the maximum is 10s"},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "max_wait: 1s, lease: { share: 10% } } }",
         "f:2:68: limits.a.lease: not with \"max_wait\""},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "penalty: { after: 5, within: 1m, ban: 1m, max_ban: 1m }, lease: { share: 10% } } }",
         "f:2:111: limits.a.lease: not with \"penalty\""},
        {"stores: { s: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 99/s, store: s, "
         "reset_on: { status: [200] }, lease: { share: 10% } } }",
         "f:2:83: limits.a.lease: not with \"reset_on\""},
        {"stores: { s: { url: 'redis-cluster://h' } }\nlimits: { a: { key: [], rate: 99/s, store: "
         "s, lease: { share: 10% } } }",
         "f:2:14: limits.a.lease: not with a redis-cluster:// store"},
        {"limits: { a: { key: [], algorithm: concurrency, max: 2, max_wait: 1s } }",
         "f:1:67: limits.a.max_wait: not for \"algorithm: concurrency\""},
        {"limits: { a: { key: [], rate: 1/s, burst: 0 } }",
         "f:1:43: limits.a.burst: too small, the minimum is 1"},
        {"limits: { a: { key: [], rate: 5/s, cost: 6 } }",
         "f:1:42: limits.a.cost: more than the burst of 5: no request could ever pass"},
        {"limits: { a: { key: ip, rate: 1/s } }",
         "f:1:21: limits.a.key: expected client_ip, client_ip/BITS, header:NAME"},
        {"limits: { a: { key: \"header:\", rate: 1/s } }",
         "f:1:21: limits.a.key: not a name to follow \"header:\""},
        {"limits: { a: { key: \"header:a b\", rate: 1/s } }", "f:1:21: limits.a.key: not a name"},
        {"limits: { a: { key: [path, header:te], rate: 1/s } }",
         "f:1:28: limits.a.key[1]: te never reaches the upstream"},
        {"limits: { a: { key: header:x_real_ip, rate: 1/s } }",
         "f:1:21: limits.a.key: x_real_ip never reaches the upstream"},
        {"limits: { a: { key: header:Client-Cert, rate: 1/s } }",
         "f:1:21: limits.a.key: what a client says in Client-Cert never reaches the upstream: "
         "write cert:fingerprint, cert:subject or cert:san"},
        {"limits: { a: { key: header:client-cert-chain, rate: 1/s } }",
         "f:1:21: limits.a.key: what a client says in client-cert-chain never reaches"},
        {"limits: { a: { key: [client_ip, client_ip], rate: 1/s } }",
         "f:1:33: limits.a.key[1]: this part is in the key already"},
        {"limits: { a: { key: client_ip/129, rate: 1/s } }",
         "f:1:21: limits.a.key: expected a prefix length of 1 to 128 bits"},
        {"limits: { a: { key: client_ip/, rate: 1/s } }",
         "f:1:21: limits.a.key: expected a prefix"},
        {"limits: { a: { key: client_ip/0, rate: 1/s } }",
         "f:1:21: limits.a.key: expected a prefix"},
        {"limits: { a: { key: [client_ip/8, client_ip/8], rate: 1/s } }",
         "f:1:35: limits.a.key[1]: this part is in the key already"},
        {"limits: { a: { key: [], rate: 9/s, cost: { header: x } } }",
         "f:1:42: limits.a.cost.max: missing: the most that a request may say"},
        {"limits: { a: { key: [], rate: 9/s, cost: { header: x, query: y, max: 1 } } }",
         "f:1:42: limits.a.cost: expected a number, or one of header, query, methods, json, "
         "request_bytes and sum"},
        {"limits: { a: { key: [], rate: 9/s, cost: {} } }",
         "f:1:42: limits.a.cost: expected a number, or one of header, query, methods, json, "
         "request_bytes and sum"},
        {"limits: { a: { key: [], rate: 9/s, cost: { header: \"x y\", max: 1 } } }",
         "f:1:52: limits.a.cost.header: not a name"},
        {"limits: { a: { key: [], rate: 9/s, cost: { header: Connection, max: 1 } } }",
         "f:1:52: limits.a.cost.header: Connection belongs to the connection"},
        {"limits: { a: { key: [], rate: 9/s, cost: { query: x, max: 5, default: 6 } } }",
         "f:1:71: limits.a.cost.default: more than \"max\""},
        {"limits: { a: { key: [], rate: 9/s, cost: { query: x, max: 50, default: 10 } } }",
         "f:1:42: limits.a.cost: its default is more than the burst of 9"},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: { PUT: 9, POST: 10 } } } }",
         "f:1:42: limits.a.cost: that of POST is more than the burst of 9: no such request"},
        {"plans: { p: { key: client_ip, members: { gold: [192.0.2.1] } } }\nlimits: { a: { key: "
         "[], rate: 9/s, cost: { methods: { POST: 9 } }, plan: p, plans: { gold: { rate: 5/s } } } "
         "}",
         "f:2:100: limits.a.plans.gold.rate: a burst of 5 is less than the limit's \"cost\" of "
         "POST, "
         "which is 9: no such"},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: { post: 5 } } } }",
         "f:1:61: limits.a.cost.methods.post: methods are case-sensitive: write POST"},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: { CONNECT: 5 } } } }",
         "f:1:64: limits.a.cost.methods.CONNECT: CONNECT is never served"},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: { GET: x } } } }",
         "f:1:60: limits.a.cost.methods.GET: "},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: [] } } }",
         "f:1:53: limits.a.cost.methods: "},
        {"limits: { a: { key: [], rate: 9/s, cost: { methods: { G T: 1 } } } }",
         "f:1:60: limits.a.cost.methods.\"G T\": expected a method such as GET"},
        {"limits: { a: { key: [], rate: 9/s, cost: { header: x, mox: 1 } } }",
         "f:1:55: limits.a.cost.mox: unknown key"},
        {"limits: { a: { key: [], rate: 9/s, cost: 0 } }",
         "f:1:42: limits.a.cost: too small, the minimum is 1"},
        {"limits: { a: { key: [], rate: 9/s, charge_on: { status: [] } } }",
         "f:1:57: limits.a.charge_on.status: expected at least one status"},
        {"limits: { a: { key: [], rate: 9/s, charge_on: {} } }",
         "f:1:47: limits.a.charge_on.status: missing"},
        {"limits: { a: { key: [], rate: 9/s, reset_on: { status: [100] } } }",
         "f:1:57: limits.a.reset_on.status[0]: expected a status such as 401, or 5xx, got \"100\""},
        {"limits: { a: { key: [], rate: 9/s, reset_on: { status: [6xx] } } }",
         "f:1:57: limits.a.reset_on.status[0]: expected a status"},
        {"limits: { a: { key: [], rate: 9/s, reset_on: { status: 401 } } }",
         "f:1:56: limits.a.reset_on.status: "},
        {"limits: { a: { key: [], rate: 9/s, charge_on: { grpc: [] } } }",
         "f:1:55: limits.a.charge_on.grpc: expected at least one code"},
        {"limits: { a: { key: [], rate: 9/s, charge_on: { grpc: [UNAUTHENTICATD] } } }",
         "f:1:56: limits.a.charge_on.grpc[0]: expected a code of gRPC such as UNAUTHENTICATED, or "
         "16, got \"UNAUTHENTICATD\", did you mean \"UNAUTHENTICATED\"?"},
        {"limits: { a: { key: [], rate: 9/s, reset_on: { grpc: [OK, 17] } } }",
         "f:1:59: limits.a.reset_on.grpc[1]: expected a code of gRPC"},
        {"limits: { a: { key: [], rate: 9/s, reset_on: { grpc: 0 } } }",
         "f:1:54: limits.a.reset_on.grpc: "},
        {"stores: { r: { url: 'redis://h' } }\nlimits: { a: { key: [], rate: 900/s, store: r, "
         "reset_on: { grpc: [OK] }, lease: { share: 10% } } }",
         "f:2:81: limits.a.lease: not with \"reset_on\""},
        {"limits: { a: { key: [], rate: 9/s, settle: { header: x } } }",
         "f:1:44: limits.a.settle.max: missing"},
        {"limits: { a: { key: [], rate: 9/s, settle: { max: 5 } } }",
         "f:1:44: limits.a.settle.header: expected one of header, json and response_bytes"},
        {"limits: { a: { key: [], rate: 9/s, settle: { header: Content-Length, max: 5 } } }",
         "f:1:54: limits.a.settle.header: a header that HTTP needs"},
        {"limits: { a: { key: [[]], rate: 1/s } }", "f:1:22: limits.a.key[0]: expected client_ip"},
        {"limits: { a: { key: [host,path,route,method,client_ip,query:a,query:b,query:c,query:d], "
         "rate: 1/s } }",
         "f:1:79: limits.a.key: too many elements, the maximum is 8"},
        {"limits: { a: { key: header:x-api-key, rate: 1/s } }",
         "f:1:14: limits.a.missing_key: missing: a request may come without"},
        {"limits: { a: { key: [], rate: 1/s, missing_key: block } }",
         "f:1:49: limits.a.missing_key: expected reject, skip or client_ip"},
        {"limits: { a: { key: [], rate: 1/s, store: redis } }",
         "f:1:43: limits.a.store: unknown store \"redis\"; known here: local"},
        {"limits: { a: { key: [], rate: 1/s, on_store_failure: opne } }",
         "f:1:54: limits.a.on_store_failure: expected open, closed or local, got \"opne\", did you "
         "mean \"open\"?"},
        {"limits: { a: { key: [], rate: 1/s, mode: dry } }",
         "f:1:42: limits.a.mode: expected enforce or shadow"},
        {"limits: { a: { key: [], rate: 1/s, algorithm: gcra } }", "f:1:47: limits.a.algorithm: "},
        {"limits: { \"\": { key: [], rate: 1/s } }", "f:1:11: limits.\"\": a name is"},
        {"limits: { a/b: { key: [], rate: 1/s } }", "f:1:11: limits.\"a/b\": a name is"},
        {"limits: { ~: { key: [], rate: 1/s } }", "f:1:11: a key must be text, not nothing"},
    });
}

TEST(bad_limits, a_weight_that_cannot_be_is_the_only_problem)
{
    for (const char* weight : {"0", "1000001", "x"}) {
        const std::string problems = problems_of(file_with(
            std::string{"limits: { a: { key: [], rate: 9/s, settle: { json: { n: "} + weight +
            " } } } }"
        ));
        EXPECT_THAT(problems, ::testing::StartsWith("f:1:57: limits.a.settle.json.n: "));
        EXPECT_THAT(problems, ::testing::Not(::testing::HasSubstr("expected at least one path")));
    }
    expect_complaints(
        {{"limits: { a: { key: [], rate: 9/s, settle: { json: {} } } }",
          "f:1:52: limits.a.settle.json: expected at least one path"}}
    );
}

}  // namespace bad_limits_test
}  // namespace gateway::config
