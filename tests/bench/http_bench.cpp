// What the head of a message costs to read and to pass on, beside Boost.Beast's parser with empty
// callbacks on the same bytes (which judges less, and keeps nothing).
#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/input/response_parser.hpp"
#include "gateway/http/output/forward_request.hpp"
#include "gateway/http/output/forward_response.hpp"
#include "gateway/http/output/limit_headers.hpp"
#include "tests/fuzz/beast_heads.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace gateway::http {
namespace {

constexpr std::string_view get =
    "GET /v1/articles/4711/comments?page=2&sort=new HTTP/1.1\r\n"
    "Host: api.example.com\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101\r\n"
    "Accept: application/json\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "X-Api-Key: 5f4dcc3b5aa7\r\n"
    "\r\n";

constexpr std::string_view ok =
    "HTTP/1.1 200 OK\r\n"
    "Server: nginx/1.22.1\r\n"
    "Date: Sat, 08 Jun 2024 10:00:00 GMT\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 1234\r\n"
    "Connection: keep-alive\r\n"
    "ETag: \"5f4dcc3b5aa765d61d83\"\r\n"
    "\r\n";

void parse_request(benchmark::State& state)
{
    const options limits;
    request_head head;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parse_request_head(get, limits, head));
        benchmark::DoNotOptimize(head.size);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(get.size()));
}

void parse_response(benchmark::State& state)
{
    response_head head;
    for (auto _ : state) {
        benchmark::DoNotOptimize(parse_response_head(ok, false, {}, head));
        benchmark::DoNotOptimize(head.size);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(ok.size()));
}

template <bool IsRequest>
void beast_parse(benchmark::State& state)
{
    const std::string_view bytes = IsRequest ? get : ok;
    for (auto _ : state) {
        fuzz::beast_heads<IsRequest> parser;
        benchmark::DoNotOptimize(parser.count_fields(bytes));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void forward_request(benchmark::State& state)
{
    request_head head;
    parse_request_head(get, {}, head);
    const forward_options options{
        .peer = "192.0.2.1",
        .identity_header = "x-forwarded-for",
        .identity_field = field_name::x_forwarded_for,
        .default_host = "default",
    };
    std::string out;
    for (auto _ : state) {
        out.clear();
        append_forwarded_request(head, options, out);
        benchmark::DoNotOptimize(out.data());
    }
}

void forward_response(benchmark::State& state)
{
    response_head head;
    parse_response_head(ok, false, {}, head);
    const limit::limit limit = limit::limit::make(100, std::chrono::minutes{1}, 20).value();
    const limit_report report{"per_client", &limit, {.allowed = true, .remaining = 19}};
    const response_options options{.added = {.limits = {.reports = {&report, 1}}}};
    std::string out;
    for (auto _ : state) {
        out.clear();
        append_forwarded_response(head, options, out);
        benchmark::DoNotOptimize(out.data());
    }
}

void limit_fields(benchmark::State& state)
{
    const limit::limit limit = limit::limit::make(100, std::chrono::minutes{1}, 20).value();
    const limit_report report{"per_client", &limit, {.allowed = true, .remaining = 19}};
    const limit_statement said{.reports = {&report, 1}};
    std::string out;
    for (auto _ : state) {
        out.clear();
        append_limit_headers(said, out);
        benchmark::DoNotOptimize(out.data());
    }
}

BENCHMARK(parse_request);
BENCHMARK(beast_parse<true>);
BENCHMARK(parse_response);
BENCHMARK(beast_parse<false>);
BENCHMARK(forward_request);
BENCHMARK(forward_response);
BENCHMARK(limit_fields);

}  // namespace
}  // namespace gateway::http
