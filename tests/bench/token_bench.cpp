// What it costs to know a token: for the first time, by each algorithm, and again; and to refuse a
// forged one.
#include "gateway/identity/token_keys.hpp"
#include "gateway/intake/token_cache.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

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
        benchmark::DoNotOptimize(identity::verify_token(rules, token, today).token->claims.size());
    }
    state.SetLabel(by.algorithm());
}

void remember(benchmark::State& state)
{
    const identity::issuer& by = issuer_of(state);
    const identity::token_rules rules = rules_of(by);
    const std::string token = token_by(by);
    intake::token_cache cache{rules};
    for (auto _ : state) {
        benchmark::DoNotOptimize(cache.find(token, today).verified->claims.size());
    }
    state.SetLabel(by.algorithm() + ", " + std::to_string(token.size()) + " bytes");
}

// One forged token after another, which any of four keys could have signed; or one again and again.
void refuse(benchmark::State& state)
{
    const identity::issuer& by = issuer_of(state);
    std::string jwks;
    for (std::size_t i = 0; i < identity::max_tried_keys; ++i) {
        const identity::issuer other{by.algorithm()};
        jwks += (i == 0 ? R"({"keys":[)" : ",") + other.jwk();
    }
    identity::token_rules rules;
    rules.keys = identity::parse_token_keys(jwks + "]}").keys;
    rules.claims = {"sub"};
    std::vector<std::string> tokens;
    for (std::int64_t i = 0; i < state.range(1); ++i) {
        tokens.push_back(by.token(R"({"sub":")" + std::to_string(i) + R"("})"));
    }
    intake::token_cache cache{rules};
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(cache.find(tokens[i++ % tokens.size()], today));
    }
    state.SetLabel(by.algorithm() + (tokens.size() == 1 ? ", again" : ", others"));
}

BENCHMARK(refuse)->ArgsProduct({{1, 2, 3}, {1, 16 * intake::token_cache::max_forged}});
BENCHMARK(verify)->DenseRange(0, 3);
BENCHMARK(remember)->DenseRange(0, 3);

}  // namespace
}  // namespace gateway::server
