#include "gateway/trace_export.hpp"

#include "gateway/base/text.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/net/resolved_name.hpp"
#include "gateway/probes/control_http.hpp"
#include "gateway/telemetry/log.hpp"
#include "gateway/tracing/otlp.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/error.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace gateway {

namespace {

namespace beast_http = boost::beast::http;

using boost::beast::error_code;
using telemetry::log_level;

// Most bytes of a collector's response.
constexpr std::uint32_t max_header_bytes = 8 * 1024;
constexpr std::uint64_t max_body_bytes = std::uint64_t{64} * 1024;

std::string instance_name()
{
    std::random_device random;
    return std::to_string(random()) + '-' + std::to_string(random());
}

beast_http::request<beast_http::string_body> request_for(
    const tracing::exporting& options, std::string body
)
{
    beast_http::request<beast_http::string_body> r(beast_http::verb::post, options.path, 11);
    r.set(beast_http::field::host, base::host_and_port(options.host, options.port));
    r.set(beast_http::field::user_agent, "gateway/" GATEWAY_VERSION);
    r.set(beast_http::field::content_type, "application/json");
    r.set(beast_http::field::connection, "close");
    for (const auto& [name, value] : options.headers) {
        r.set(name, value);
    }
    r.body() = std::move(body);
    r.prepare_payload();
    return r;
}

std::string described(const error_code& ec)
{
    return ec == boost::beast::error::timeout ? "no answer in time" : ec.message();
}

}  // namespace

// The thread, and what runs on it.
class trace_export::exporter {
public:
    exporter(tracing::span_queue& queue, const tracing::exporting& options)
        : queue_(queue), by_{options.service_name, GATEWAY_VERSION, instance_name()}
    {
        adopt(options);
        boost::asio::co_spawn(
            context_.get_executor(), keep_exporting(), net::reported("the export of traces")
        );
        thread_ = std::thread([this] { context_.run(); });
    }

    ~exporter()
    {
        boost::asio::post(context_, [this] { stop(); });
        thread_.join();
    }

    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    void configure(const tracing::exporting& options)
    {
        boost::asio::post(context_, [this, options] { adopt(options); });
    }

private:
    // Reason why a collector has not taken spans; empty if it has.
    using finding = std::string;

    tracing::span_queue& queue_;
    boost::asio::io_context context_{1};
    net::timer next_{context_.get_executor()};
    net::timer end_{context_.get_executor()};
    tracing::resource by_;
    tracing::exporting options_;
    std::optional<net::resolved_name> name_;
    bool stopping_ = false;
    // True if the last request failed.
    bool failing_ = false;
    std::thread thread_;

    void adopt(const tracing::exporting& options);
    void stop();
    net::task<> keep_exporting();
    net::task<bool> export_some();
    net::task<finding> send(std::string body);
    net::task<finding> connect(probes::control_stream& s);
    net::task<finding> read_answer(probes::control_stream& s);
    void note(const finding& found);
};

void trace_export::exporter::adopt(const tracing::exporting& options)
{
    options_ = options;
    by_.service_name = options.service_name;
    if (name_) {
        name_->stop();
    }
    name_.reset();
    if (!options.endpoint.empty()) {
        name_.emplace(net::resolved_name::of_host(
            context_.get_executor(), options.host, options.port, {}, [] {}
        ));
    }
}

// Ends the thread when the last spans are exported, or their time is up.
void trace_export::exporter::stop()
{
    stopping_ = true;
    next_.cancel();
    end_.expires_after(tracing::last_export_timeout);
    end_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) {
            context_.stop();
        }
    });
}

net::task<> trace_export::exporter::keep_exporting()
{
    base::duration pause = tracing::export_interval;
    while (!stopping_) {
        co_await net::pause(next_, pause);
        const bool well = co_await export_some();
        pause =
            well ? tracing::export_interval : std::min(2 * pause, tracing::longest_export_pause);
    }
    co_await export_some();
    if (name_) {
        name_->stop();
    }
    end_.cancel();
}

// Exports all spans that wait. Returns false if the collector does not take them. They go on
// waiting while its name is looked up for the first time.
net::task<bool> trace_export::exporter::export_some()
{
    while (name_ && name_->known()) {
        const std::vector<tracing::span> batch = queue_.take();
        if (batch.empty()) {
            break;
        }
        const finding found = co_await send(tracing::encode_spans(batch, by_));
        note(found);
        if (!found.empty()) {
            queue_.count_dropped(batch.size());
            co_return false;
        }
    }
    co_return true;
}

net::task<trace_export::exporter::finding> trace_export::exporter::send(std::string body)
{
    probes::control_stream s(context_.get_executor());
    s.expires_after(tracing::export_timeout);
    finding found = co_await connect(s);
    if (!found.empty()) {
        co_return found;
    }
    const auto request = request_for(options_, std::move(body));
    if (const error_code ec = co_await probes::write(s, request)) {
        co_return described(ec);
    }
    co_return co_await read_answer(s);
}

net::task<trace_export::exporter::finding> trace_export::exporter::connect(probes::control_stream& s
)
{
    const auto known = name_->endpoints();  // These may change meanwhile.
    const std::vector<net::resolved_name::endpoint> addresses(known.begin(), known.end());
    finding found = "its name does not resolve: " + name_->error();
    for (const auto& address : addresses) {
        boost::system::error_code ignored;
        s.socket().close(ignored);
        auto [ec] = co_await s.async_connect(address, net::use_task);
        if (!ec) {
            co_return finding{};
        }
        found = described(ec);
    }
    co_return found;
}

net::task<trace_export::exporter::finding> trace_export::exporter::read_answer(
    probes::control_stream& s
)
{
    boost::beast::flat_buffer buffer(max_header_bytes + max_body_bytes);
    beast_http::response_parser<beast_http::string_body> parser;
    parser.header_limit(max_header_bytes);
    parser.body_limit(max_body_bytes);
    if (const error_code ec = co_await probes::read(s, buffer, parser)) {
        co_return described(ec);
    }
    const beast_http::response<beast_http::string_body>& answer = parser.get();
    if (answer.result_int() < 200 || answer.result_int() > 299) {
        co_return "status " + std::to_string(answer.result_int());
    }
    queue_.count_dropped(tracing::rejected_spans(answer.body()));
    co_return finding{};
}

void trace_export::exporter::note(const finding& found)
{
    if (failing_ != found.empty()) {
        return;
    }
    failing_ = !found.empty();
    const std::string who = "tracing: the collector " + options_.endpoint;
    failing_ ? telemetry::log(
                   log_level::warning,
                   who + " does not take spans: " + found +
                       " (told once; gateway_traces_dropped_total counts the lost ones)"
               )
             : telemetry::log(log_level::info, who + " takes spans again");
}

trace_export::trace_export() = default;

trace_export::~trace_export() = default;

void trace_export::apply(const tracing::exporting& options)
{
    if (exporter_ != nullptr) {
        exporter_->configure(options);
    } else if (!options.endpoint.empty()) {
        exporter_ = std::make_unique<exporter>(queue_, options);
    }
}

}  // namespace gateway
