#include "gateway/key_watch.hpp"

#include "gateway/base/text.hpp"
#include "gateway/identity/token_keys.hpp"
#include "gateway/net/reported.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gateway {

namespace {

using answer = probes::remote_server::answer;
using telemetry::log;
using telemetry::log_level;

// Returns a text of another's for the log: cut, and without characters that a terminal obeys.
std::string printable(std::string_view text)
{
    constexpr std::size_t longest = 128;
    std::string shown{text.substr(0, longest)};
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return shown;
}

probes::control_upload request_for(const probes::issuer_options& options)
{
    using field = boost::beast::http::field;
    probes::control_upload r(boost::beast::http::verb::get, options.target, 11);
    const bool usual = options.port == "443";
    r.set(field::host, usual ? options.host : base::host_and_port(options.host, options.port));
    r.set(field::user_agent, "gateway/" GATEWAY_VERSION);
    r.set(field::accept, "application/jwk-set+json, application/json");
    r.set(field::connection, "close");
    return r;
}

// Returns the reason why the answer has no keys; empty if it may have some.
std::string complaint_about(const answer& a)
{
    if (!a.response) {
        return a.complaint;
    }
    const unsigned status = a.response->result_int();
    if (status >= 300 && status <= 399) {
        const auto location = (*a.response)[boost::beast::http::field::location];
        return "status " + std::to_string(status) + ", and redirects are not followed: name \"" +
               printable({location.data(), location.size()}) +
               "\" in jwt.keys, if that is the issuer's";
    }
    return status == 200 ? a.complaint : "status " + std::to_string(status);
}

}  // namespace

key_watch::key_watch(net::executor executor, limits::key_fetches& workers, listener to)
    : executor_(std::move(executor)),
      workers_(workers),
      listener_(std::move(to)),
      next_(executor_, [this] { begin(); }),
      state_({}, {})
{
    workers_.on_demand([this] { boost::asio::post(executor_, [this] { asked(); }); });
}

void key_watch::watch(const config::settings& in_force)
{
    const probes::issuer_options& options = in_force.issuer;
    next_.cancel();
    const bool same_url = from_ != nullptr && from_->options.url == options.url;
    if (!same_url) {
        in_force_.reset();
        keys_ = 0;
        complaint_.clear();
    }
    if (options.url.empty()) {
        from_.reset();
        workers_.note(false, base::instant::max());
        listener_.ended();
        return;
    }
    if (from_ == nullptr || from_->options != options) {
        from_ = std::make_shared<issuer>(executor_, options);
        state_ = {options.refresh, base::now()};
    }
    if (!state_.is_under_way()) {
        begin();
    }
}

void key_watch::await_first(
    boost::asio::io_context& control, const std::function<bool()>& are_needed
)
{
    while (are_needed() && lacks_keys() && state_.is_under_way()) {
        control.run_one();
    }
    if (lacks_keys() && are_needed()) {
        throw std::runtime_error(
            "jwt.keys: no keys can be fetched from " + from_->options.url + ": " + complaint_
        );
    }
}

// Begins a fetch, as a token names a key that is not known, unless one has just ended.
void key_watch::asked()
{
    if (from_ == nullptr) {
        listener_.ended();
        return;
    }
    const base::instant now = base::now();
    state_.note_unknown(now);
    if (!state_.is_under_way() && *state_.next() <= now) {
        begin();
    } else if (!state_.is_worth_waiting()) {
        listener_.ended();
    }
    schedule();
}

void key_watch::begin()
{
    state_.begin();
    schedule();
    boost::asio::co_spawn(executor_, fetch(from_), net::reported("the fetch of keys"));
}

net::task<> key_watch::fetch(std::shared_ptr<issuer> from)
{
    const probes::control_upload request = request_for(from->options);
    const answer a = co_await from->server.ask(
        request, from->options.timeout, {max_header_bytes, identity::max_key_set_bytes}
    );
    if (from == from_) {  // otherwise a reload has replaced it
        fetched(a);
    }
}

void key_watch::fetched(const answer& a)
{
    std::string complaint = complaint_about(a);
    if (complaint.empty()) {
        complaint = adopt(a.response->body());
    }
    note(complaint);
    const base::instant now = base::now();
    if (complaint.empty()) {
        const auto cached = (*a.response)[boost::beast::http::field::cache_control];
        state_.succeeded(now, identity::life_by({cached.data(), cached.size()}));
    } else {
        state_.failed(now);
    }
    schedule();
    listener_.ended();
}

// Has the keys adopted, if they have changed. Returns what is wrong with them, or an empty text.
std::string key_watch::adopt(const std::string& text)
{
    const base::sha256_digest digest = base::sha256(text);
    if (digest == in_force_) {
        return {};
    }
    identity::token_keys read = identity::parse_token_keys(text, identity::keys_from::url);
    if (!read.complaint.empty()) {
        return "no JSON Web Key Set for tokens: " + read.complaint;
    }
    for (const std::string& key : read.passed_over) {
        log(log_level::warning,
            "jwt.keys: " + from_->options.url + ": " + key + "; it is passed over");
    }
    in_force_ = digest;
    const std::size_t before = std::exchange(keys_, read.keys.size());
    listener_.fetched(std::move(read.keys));
    // Logged last, as readers of the line may rely on the keys.
    log(log_level::info,
        "jwt.keys: " + from_->options.url + ": " + std::to_string(keys_) + " keys fetched, " +
            std::to_string(before) + " before");
    return {};
}

// Counts a fetch. Logs a failure once for each reason in a row.
void key_watch::note(const std::string& complaint)
{
    ++(complaint.empty() ? succeeded_ : failed_);
    if (complaint == complaint_) {
        return;
    }
    complaint_ = complaint;
    const std::string who = "jwt.keys: " + from_->options.url;
    if (complaint.empty()) {
        log(log_level::info, who + ": keys can be fetched again");
        return;
    }
    const std::string rest = in_force_ ? "the old keys stay" : "there are no keys yet";
    log(log_level::error, who + ": keys cannot be fetched, and " + rest + ": " + complaint);
}

// Tells the workers what to wait for, and sets the moment of the next fetch.
void key_watch::schedule()
{
    workers_.note(state_.is_worth_waiting(), state_.unknown_from());
    if (const auto next = state_.next()) {
        next_.set(*next);
    } else {
        next_.cancel();
    }
}

std::optional<telemetry::key_fetch_figures> key_watch::figures() const
{
    if (from_ == nullptr) {
        return std::nullopt;
    }
    return telemetry::key_fetch_figures{
        .keys = keys_, .failing = state_.is_failing(), .succeeded = succeeded_, .failed = failed_};
}

}  // namespace gateway
