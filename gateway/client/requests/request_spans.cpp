#include "gateway/client/requests/request_spans.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <algorithm>
#include <charconv>

namespace gateway::client {

namespace {

using tracing::span;

// Makes the spans of one request.
class maker {
public:
    maker(
        const limits::request_record& of,
        base::instant now,
        base::duration to_unix,
        const std::function<std::uint64_t()>& random
    )
        : of_(of), now_(now), to_unix_(to_unix), random_(random)
    {}

    // Adds a span from `begin` to `end`, within that of the request.
    span& add(std::string name, span::kind is, base::instant begin, base::instant end)
    {
        spans_.push_back(
            {.trace = of_.trace->trace,
             .id = random_() | 1,
             .parent = of_.trace->span,
             .is = is,
             .name = std::move(name),
             .begin = begin.time_since_epoch() + to_unix_,
             .end = std::max(begin, end).time_since_epoch() + to_unix_}
        );
        return spans_.back();
    }

    void add_request(const kept_text& text);
    void add_decision();
    void add_waits();
    void add_attempts(std::string_view method);

    std::vector<span> spans() && { return std::move(spans_); }

private:
    const limits::request_record& of_;
    const base::instant now_;
    const base::duration to_unix_;
    const std::function<std::uint64_t()>& random_;
    std::vector<span> spans_;

    void add_limits(span& to) const;
};

// Returns the method, or the word that the conventions have for one that is not known.
std::string_view known_method(std::string_view method)
{
    return telemetry::method_index(method) == telemetry::method_names.size() - 1 ? "_OTHER"
                                                                                 : method;
}

// Adds a host and its port, if it has one.
void add_server(span& to, std::string_view authority)
{
    const std::size_t colon = authority.rfind(':');
    const bool has_port =
        colon != std::string_view::npos && colon + 1 < authority.size() &&
        authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
    std::string_view host = has_port ? authority.substr(0, colon) : authority;
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    to.add("server.address", host);
    int port = 0;
    if (has_port) {
        std::from_chars(authority.data() + colon + 1, authority.data() + authority.size(), port);
        to.add("server.port", port);
    }
}

std::string route_pattern(const policy::route_match& match)
{
    const std::string path = match.path.empty() ? "/" : match.path;
    return match.exact ? path : path + (path.ends_with('/') ? "*" : "/*");
}

std::string verdicts_of(const std::vector<http::limit_report>& reports)
{
    std::string all;
    for (const http::limit_report& r : reports) {
        all.append(all.empty() ? "" : ",").append(r.name);
        all.append(r.decision.allowed ? "=allowed" : "=rejected");
    }
    return all;
}

// Returns the store that decided, which is the shared one if the route has one.
std::string_view store_of(const limits::request_record& of)
{
    const policy::policy& policy = *of.view->policy;
    for (const std::size_t i : of.route->limits) {
        if (policy.limits[i].store != policy::local_store) {
            return policy.stores[policy.limits[i].store];
        }
    }
    return "local";
}

void maker::add_limits(span& to) const
{
    to.add("gateway.limit", of_.deciding_limit);
    to.add("gateway.outcome", of_.outcome);
    to.add("gateway.limits", verdicts_of(of_.reports));
    to.add("gateway.shadow_rejected", of_.shadow_rejected);
    to.add("gateway.plan", of_.plans);
    if (!of_.costs.all().empty()) {
        to.add("gateway.cost", of_.costs.all().front().tokens);
    }
    if (!of_.bucket_name.empty()) {
        to.add("gateway.bucket", base::sha256_hex128(of_.bucket_name));
    }
}

void maker::add_request(const kept_text& text)
{
    const std::string_view method = known_method(text.method);
    const std::string_view path = std::string_view{text.target}.substr(0, text.target.find('?'));
    const std::string route = of_.route != nullptr ? route_pattern(of_.route->match) : "";
    std::string name{method == "_OTHER" ? "HTTP" : method};
    name += route.empty() ? route : ' ' + route;
    span& s = add(std::move(name), span::kind::server, of_.received, now_);
    s.id = of_.trace->span;
    s.parent = of_.trace->parent;
    s.add("http.request.method", method);
    s.add("url.path", path);
    s.add("url.scheme", of_.by.secure ? "https" : "http");
    add_server(s, text.host);
    s.add("client.address", of_.client.to_string());
    s.add("network.peer.address", of_.by.peer.to_string());
    s.add("http.route", route);
    s.add("http.response.status_code", of_.end.shown_status());
    s.add("http.request.body.size", static_cast<std::int64_t>(of_.end.request_bytes));
    s.add("http.response.body.size", static_cast<std::int64_t>(of_.end.response_bytes));
    if (of_.route != nullptr) {
        s.add("gateway.route", of_.route->name);
        if (!of_.is_answered()) {
            s.add("gateway.upstream", of_.pool().options().name);
        }
    }
    s.add("gateway.request_id", of_.id.text());
    s.add("gateway.attempts", static_cast<std::int64_t>(of_.attempts.count));
    s.add("gateway.error", of_.end.error);
    add_limits(s);
    s.failed = has_failed(of_);
    if (s.failed || of_.end.status == 0) {
        s.add("error.type", std::to_string(of_.end.shown_status()));
    }
}

void maker::add_decision()
{
    if (!of_.decided && !of_.store_asked) {
        return;
    }
    const base::instant end = of_.decided.value_or(now_);
    const bool asked = of_.store_asked.has_value();
    span& s =
        add("decide",
            asked ? span::kind::client : span::kind::internal,
            of_.store_asked.value_or(end),
            end);
    s.add("gateway.store", asked ? store_of(of_) : std::string_view{"local"});
    s.add("gateway.limit", of_.deciding_limit);
    s.add("gateway.outcome", of_.outcome);
    s.failed = of_.outcome.starts_with("failed_");
}

void maker::add_waits()
{
    if (of_.held && of_.decided) {
        add("wait for tokens", span::kind::internal, *of_.decided, of_.released.value_or(now_));
    }
    for (std::size_t i = 0; i < of_.attempts.count; ++i) {
        const limits::attempt& a = of_.attempts.all[i];
        if (a.connected > a.asked) {
            add("wait for a server", span::kind::internal, a.asked, a.connected);
        }
    }
    if (of_.attempts.unserved) {
        span& s = add("wait for a server", span::kind::internal, *of_.attempts.unserved, now_);
        s.failed = true;
        s.add("error.type", of_.attempts.unreachable.empty() ? "no_server" : "connect");
    }
}

void maker::add_attempts(std::string_view method)
{
    const std::size_t count = of_.attempts.count;
    for (std::size_t i = 0; i < count; ++i) {
        const limits::attempt& a = of_.attempts.all[i];
        const bool last = i + 1 == count;
        const base::instant end = last ? now_ : of_.attempts.all[i + 1].asked;
        const bool answered = a.took >= base::duration{0};
        span& s =
            add(std::string{method == "_OTHER" ? "HTTP" : method},
                span::kind::client,
                a.connected,
                last && of_.attempts.unserved ? *of_.attempts.unserved : end);
        s.id = a.span;
        s.add("http.request.method", method);
        add_server(s, of_.pool().names().text_of(a.server));
        if (i > 0) {
            s.add("http.request.resend_count", static_cast<std::int64_t>(i));
        }
        if (answered) {
            s.add("http.response.status_code", a.status);
            s.failed = a.status >= 400;
            s.add("error.type", s.failed ? std::to_string(a.status) : std::string{});
        } else {
            s.failed = true;
            s.add("error.type", of_.end.status == 0 ? "cancelled" : "no_response");
        }
    }
}

}  // namespace

bool has_failed(const limits::request_record& of)
{
    return of.end.status >= 500 && !of.end.intended;
}

std::vector<tracing::span> spans_of(
    const limits::request_record& of,
    const kept_text& text,
    base::instant now,
    base::duration to_unix,
    const std::function<std::uint64_t()>& random
)
{
    maker all(of, now, to_unix, random);
    all.add_request(text);
    all.add_decision();
    all.add_waits();
    all.add_attempts(known_method(text.method));
    return std::move(all).spans();
}

}  // namespace gateway::client
