// What it costs to know a token: for the first time, by each algorithm, and again.
#include "gateway/identity/token_keys.hpp"
#include "gateway/server/token_cache.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <benchmark/benchmark.h>

namespace gateway::server {
namespace {

using namespace std::chrono_literals;

constexpr base::duration today = 1'800'000'000s;

const identity::issuer& issuer_of(const benchmark::State& state)
{
    return identity::issuers()[static_cast<std::size_t>(state.range(0))];
}

std::string token_by(const identity::issuer& by)
{
    return by.token(
        R"({"iss":"https://id.example.com","sub":"00u1a2b3c4d5e6f7g8h9","aud":["api","web"],)"
        R"("exp":1800000600,"iat":1799999000,"scope":"read write","realm":{"tenant":"example"}})",
        R"(,"kid":"2026-11","typ":"JWT")"
    );
}

identity::token_rules rules_of(const identity::issuer& by)
{
    identity::token_rules rules;
    rules.keys = identity::parse_token_keys(by.jwks(R"(,"kid":"2026-11")")).keys;
    rules.claims = {"realm.tenant", "sub"};
    return rules;
}

void verify(benchmark::State& state)
{
    const identity::issuer& by = issuer_of(state);
    const identity::token_rules rules = rules_of(by);
    const std::string token = token_by(by);
    for (auto _ : state) {
        benchmark::DoNotOptimize(identity::verify_token(rules, token, today)->claims.size());
    }
    state.SetLabel(by.algorithm());
}

void remember(benchmark::State& state)
{
    const identity::issuer& by = issuer_of(state);
    const identity::token_rules rules = rules_of(by);
    const std::string token = token_by(by);
    token_cache cache{rules};
    for (auto _ : state) {
        benchmark::DoNotOptimize(cache.find(token, today)->claims.size());
    }
    state.SetLabel(by.algorithm() + ", " + std::to_string(token.size()) + " bytes");
}

BENCHMARK(verify)->DenseRange(0, 3);
BENCHMARK(remember)->DenseRange(0, 3);

}  // namespace
}  // namespace gateway::server
