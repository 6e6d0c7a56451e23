#include "gateway/commands/explained_text.hpp"

#include "gateway/admin/json_text.hpp"
#include "gateway/base/utc_text.hpp"

#include <boost/json.hpp>

#include <array>
#include <iomanip>
#include <optional>
#include <string>

namespace gateway {

namespace {

// Returns a member as text, strings without their quotes; empty if it is absent or null.
std::string text_of(const boost::json::object& of, const char* name)
{
    const boost::json::value* const v = of.if_contains(name);
    if (v == nullptr || v->is_null()) {
        return {};
    }
    return v->is_string() ? std::string{v->get_string()} : admin::json_text(*v);
}

// Returns whole seconds, rounded up as for clients; nothing if the member is no number.
std::optional<std::int64_t> whole_seconds(const boost::json::object& of, const char* name)
{
    const boost::json::value* const v = of.if_contains(name);
    if (v == nullptr || !v->is_number()) {
        return std::nullopt;
    }
    const double seconds = v->is_double() ? v->get_double() : v->to_number<double>();
    const auto whole = static_cast<std::int64_t>(seconds);
    return whole + (seconds > static_cast<double>(whole) ? 1 : 0);
}

// Returns "12 s" or "5000 s (1 h 23 min 20 s)".
std::string seconds_of(const boost::json::object& of, const char* name)
{
    struct unit {
        std::int64_t seconds;
        const char* name;
    };

    constexpr std::array<unit, 4> units{{{86'400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}}};
    const auto all = whole_seconds(of, name);
    if (!all) {
        return {};
    }
    std::string plain = std::to_string(*all) + " s";
    if (*all < units[1].seconds) {
        return plain;
    }
    std::string parts;
    std::int64_t left = *all;
    for (const unit& u : units) {
        const std::int64_t count = left / u.seconds;
        left %= u.seconds;
        if (count > 0) {
            parts += (parts.empty() ? "" : " ") + std::to_string(count) + u.name;
        }
    }
    return plain + " (" + parts + ')';
}

// Returns "2026-11-28 00:03:14 UTC".
std::string moment_of(const boost::json::object& of, const char* name)
{
    const auto unix_time = whole_seconds(of, name);
    if (!unix_time) {
        return {};
    }
    base::utc_text<23> text{"%Y-%m-%d %H:%M:%S UTC"};
    return std::string{text.at(std::chrono::seconds{*unix_time})};
}

const boost::json::object* object_of(const boost::json::object& of, const char* name)
{
    const boost::json::value* const v = of.if_contains(name);
    return v == nullptr ? nullptr : v->if_object();
}

void write_line(std::ostream& out, const char* name, const std::string& text)
{
    if (!text.empty()) {
        out << std::left << std::setw(10) << name << text << '\n';
    }
}

std::string key_of(const boost::json::object& limit)
{
    const boost::json::value* const key = limit.if_contains("key");
    std::string text;
    if (key == nullptr || !key->is_array()) {
        return text;
    }
    for (const boost::json::value& part : key->get_array()) {
        const boost::json::object* const one = part.if_object();
        if (one == nullptr) {
            continue;
        }
        const std::string value = text_of(*one, "value");
        const std::string secret = text_of(*one, "sha256");
        text += (text.empty() ? "" : ", ") + text_of(*one, "part") + " = " +
                (secret.empty() ? value : "sha256:" + secret);
    }
    return text.empty() ? "none: everybody shares the bucket" : text;
}

std::string numbers_of(const boost::json::object& limit)
{
    const std::string remaining = text_of(limit, "remaining");
    const std::string failed = text_of(limit, "failed");
    if (remaining.empty()) {
        return failed.empty() ? "" : "unknown, the store has not answered: " + failed;
    }
    std::string left = remaining + " of " + text_of(limit, "capacity") + " left";
    // Permits come back when requests end, so no time is known for them.
    if (!text_of(limit, "rate").empty()) {
        left += ", full in " + seconds_of(limit, "reset");
    }
    return failed.empty()
               ? left
               : left + ", in the gateway's own bucket, as the store has not answered: " + failed;
}

// Returns what responses report of the limit, if that is not the usual.
std::string report_of(const boost::json::object& limit)
{
    const std::string headers = text_of(limit, "headers");
    const std::string soft = text_of(limit, "soft");
    std::string text = headers == "false" ? "hidden from clients"
                       : headers.empty()  ? ""
                                          : "to clients as x-ratelimit-remaining-" + headers;
    if (!soft.empty()) {
        text += (text.empty() ? "warns above " : ", warns above ") + soft + '%';
    }
    return text;
}

std::string until(const std::string& moment)
{
    return moment.empty() ? "" : "until " + moment;
}

void write_limit(const boost::json::object& limit, std::ostream& out)
{
    out << '\n';
    const std::string rate = text_of(limit, "rate");
    write_line(
        out,
        "limit",
        text_of(limit, "limit") + ": " + text_of(limit, "algorithm") + (rate.empty() ? "" : " ") +
            rate + ", capacity " + text_of(limit, "capacity") + ", store " +
            text_of(limit, "store") + ", mode " + text_of(limit, "mode")
    );
    write_line(out, "  headers", report_of(limit));
    write_line(out, "  plan", text_of(limit, "plan"));
    const std::string why_not = text_of(limit, "why");
    if (!why_not.empty()) {
        write_line(out, "  skipped", why_not);
        return;
    }
    write_line(out, "  key", key_of(limit));
    write_line(out, "  bucket", text_of(limit, "bucket"));
    write_line(out, "  cost", text_of(limit, "cost"));
    write_line(out, "  tokens", numbers_of(limit));
    write_line(out, "  banned", until(moment_of(limit, "banned_until")));
    const std::string outcome = text_of(limit, "says");
    const std::string retry = seconds_of(limit, "retry");
    const bool waits = outcome == "rejected" || outcome == "shadow_rejected";
    write_line(out, "  says", waits && !retry.empty() ? outcome + ", retry in " + retry : outcome);
}

std::string verdict_of(const boost::json::object& verdict)
{
    const std::string outcome = text_of(verdict, "says");
    if (outcome == "unknown") {
        return "unknown: only the running gateway has the counts, ask it with --admin";
    }
    std::string text = outcome;
    for (const char* name : {"status", "detail"}) {
        const std::string more = text_of(verdict, name);
        text += more.empty() ? "" : (text == outcome ? " with " : ": ") + more;
    }
    const std::string limit = text_of(verdict, "limit");
    const std::string retry = seconds_of(verdict, "retry_after");
    const std::string upstream = text_of(verdict, "upstream");
    text += limit.empty() ? "" : ", limit " + limit;
    text += upstream.empty() ? "" : ", served by upstream " + upstream;
    return text + (retry.empty() ? "" : ", Retry-After " + retry);
}

}  // namespace

void write_explanation(const boost::json::object& explanation, std::ostream& out)
{
    if (const boost::json::object* const client = object_of(explanation, "client")) {
        write_line(out, "client", text_of(*client, "address") + ", " + text_of(*client, "why"));
        if (text_of(*client, "counted_as") != text_of(*client, "address")) {
            write_line(out, "", "counted as " + text_of(*client, "counted_as"));
        }
    }
    write_line(out, "path", text_of(explanation, "path"));
    write_line(out, "route", text_of(explanation, "route"));
    write_line(out, "upstream", text_of(explanation, "upstream"));
    const boost::json::value* const limits = explanation.if_contains("limits");
    if (limits != nullptr && limits->is_array()) {
        for (const boost::json::value& limit : limits->get_array()) {
            if (limit.is_object()) {
                write_limit(limit.get_object(), out);
            }
        }
    }
    if (const boost::json::object* const verdict = object_of(explanation, "verdict")) {
        out << '\n';
        write_line(out, "verdict", verdict_of(*verdict));
    }
}

}  // namespace gateway
