#include "gateway/commands/top/rows.hpp"

#include "gateway/telemetry/escape.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace gateway {

namespace {

namespace json = boost::json;

std::string safe(std::string_view text)
{
    std::string out;
    telemetry::append_plain_text(out, text);
    // The width of other characters is not known.
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7e; }, '?'
    );
    return out;
}

std::string member_text(const json::object& of, std::string_view name)
{
    const json::value* const v = of.if_contains(name);
    if (v == nullptr || v->is_null()) {
        return {};
    }
    return safe(v->is_string() ? std::string{v->get_string()} : json::serialize(*v));
}

double number_of(const json::object& of, std::string_view name)
{
    const json::value* const v = of.if_contains(name);
    return v != nullptr && v->is_number() ? v->to_number<double>() : 0;
}

bool is_true(const json::object& of, std::string_view name)
{
    const json::value* const v = of.if_contains(name);
    return v != nullptr && v->is_bool() && v->get_bool();
}

std::string number(double n)
{
    std::array<char, 32> room{};
    std::snprintf(room.data(), room.size(), n == 0 || n >= 10 ? "%.0f" : "%.2f", n);
    return room.data();
}

std::string milliseconds(const json::value* seconds)
{
    return seconds == nullptr || !seconds->is_number()
               ? "-"
               : number(seconds->to_number<double>() * 1e3) + " ms";
}

std::string clock_time(double unix_time)
{
    const auto seconds = static_cast<std::time_t>(unix_time);
    std::tm local{};
    localtime_r(&seconds, &local);
    std::array<char, 16> room{};
    std::strftime(room.data(), room.size(), "%H:%M:%S", &local);
    return room.data();
}

std::string length(double seconds)
{
    const auto s = static_cast<std::int64_t>(std::max(seconds, 0.0));
    if (s < 120) {
        return std::to_string(s) + " s";
    }
    return s < 7200 ? std::to_string(s / 60) + " min" : std::to_string(s / 3600) + " h";
}

// Returns the text in a column, cut or filled up to its width. A negative width puts it to the
// right.
std::string in_column(std::string_view text, int width)
{
    const auto room = static_cast<std::size_t>(width < 0 ? -width : width);
    std::string cell{text.substr(0, room)};
    cell.insert(width < 0 ? 0 : cell.size(), room - cell.size(), ' ');
    return cell + ' ';
}

std::string row(const std::vector<std::pair<std::string, int>>& cells)
{
    std::string line;
    for (const auto& [text, width] : cells) {
        line += in_column(text, width);
    }
    return line;
}

// Returns the client's name: the values of its key, or the bucket's hash without the token.
std::string client_of(const json::object& of)
{
    if (const json::value* const client = of.if_contains("client")) {
        return safe(client->is_string() ? std::string{client->get_string()} : std::string{});
    }
    const json::value* const key = of.if_contains("key");
    if (key == nullptr || !key->is_array()) {
        return member_text(of, "bucket").substr(0, 16);
    }
    std::string name;
    for (const json::value& part : key->get_array()) {
        if (part.is_object()) {
            const json::object& p = part.get_object();
            const char* const shown = p.contains("value") ? "value" : "sha256";
            name.append(name.empty() ? "" : ",").append(member_text(p, shown));
        }
    }
    return name;
}

// Appends lines of at most `width` characters, broken at blanks.
void append_wrapped(std::string text, std::size_t width, top_look look, std::vector<top_line>& to)
{
    const std::size_t room = std::max<std::size_t>(width, 20);
    while (text.size() > room) {
        std::size_t at = text.rfind(' ', room);
        at = at == std::string::npos || at < room / 2 ? room : at;
        to.push_back({text.substr(0, at), look});
        text = "  " + text.substr(std::min(text.find_first_not_of(' ', at), text.size()));
    }
    to.push_back({std::move(text), look});
}

}  // namespace

top_line head_line(const top_figures& of, std::string_view address, std::string_view link)
{
    const bool live = link == "live";
    std::string text = "gateway";
    if (of.any()) {
        text += ' ' + member_text(of.process(), "version");
        text += is_true(of.process(), "draining") ? " (draining)" : "";
    }
    text += "  " + safe(address) + "  " + safe(link);
    if (of.any()) {
        text += "  " + clock_time(static_cast<double>(of.now())) + "  " +
                number(of.request_rate()) + " requests/s";
    }
    return {std::move(text), live ? top_look::title : top_look::bad};
}

std::vector<top_line> finding_lines(const top_figures& of, std::size_t width)
{
    std::vector<top_line> lines;
    for (const json::object* const f : of.rows("findings")) {
        const std::string cause = member_text(*f, "cause");
        const std::string name = cause == "client" ? client_of(*f) : member_text(*f, "name");
        const double since = number_of(*f, "since");
        std::string text = "! ";
        text.append(cause).append(" ").append(name).append(" ").append(member_text(*f, "text"));
        text.append(". Since ").append(clock_time(since)).append(", for ");
        text.append(length(static_cast<double>(of.now()) - since)).append(".");
        append_wrapped(std::move(text), width, top_look::bad, lines);
    }
    if (lines.empty()) {
        lines.push_back({"Nothing is wrong.", top_look::good});
    }
    return lines;
}

std::vector<top_line> request_lines(const top_figures& of, std::size_t width)
{
    const auto rate = [&of](std::string_view verdict) { return number(of.request_rate(verdict)); };
    const double bad = of.request_rate("missing_key") + of.request_rate("bad_cost");
    std::vector<top_line> lines;
    append_wrapped(
        "REQUESTS/S allowed " + rate("allowed") + "  rejected " + rate("rejected") + "  blocked " +
            rate("blocked") + "  failed closed " + rate("failed_closed") + "  errors " +
            rate("errors") + "  bad " + number(bad),
        width,
        top_look::plain,
        lines
    );
    lines.push_back(
        {"LATENCY  gateway p50 " + milliseconds(of.latency("p50")) + ", p99 " +
         milliseconds(of.latency("p99"))}
    );
    constexpr std::string_view levels = " .:-=+*#%@";
    const std::size_t columns = std::min<std::size_t>(width > 12 ? width - 12 : 0, 60);
    const auto& all = of.requests();
    const std::size_t each =
        std::max<std::size_t>(top_figures::length / std::max<std::size_t>(columns, 1), 1);
    std::vector<double> sums(columns, 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t ago = (all.size() - 1 - i) / each;
        if (ago < columns) {
            sums[columns - 1 - ago] += all[i];
        }
    }
    const double most = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    std::string past = "10 MINUTES |";
    for (const double s : sums) {
        const double level = most == 0 ? 0 : s / most * static_cast<double>(levels.size() - 1);
        past += levels[static_cast<std::size_t>(s > 0 ? std::max(level, 1.0) : 0)];
    }
    lines.push_back({past});
    return lines;
}

std::vector<top_line> limit_lines(const top_figures& of)
{
    std::vector<top_line> lines{
        {row(
             {{"LIMIT", 18},
              {"allowed", -8},
              {"rejected", -8},
              {"shadow", -7},
              {"failed", -7},
              {"share", -6},
              {"most rejected", 19}}
         ),
         top_look::title}};
    for (const json::object* const l : of.rows("limits")) {
        const std::string name = member_text(*l, "limit");
        const auto rate = [&](std::string_view o) { return of.rate("limits", name, o); };
        const double failed = rate("failed_open") + rate("failed_closed") + rate("failed_local");
        const double rejected = rate("rejected") + rate("blocked");
        const double all = rate("allowed") + rejected + rate("shadow_rejected") + failed;
        std::string top;
        for (const json::object* const t : of.rows("top_rejections")) {
            if (top.empty() && member_text(*t, "limit") == name) {
                top = client_of(*t);
            }
        }
        lines.push_back({row(
            {{name, 18},
             {number(rate("allowed")), -8},
             {number(rejected), -8},
             {number(rate("shadow_rejected")), -7},
             {number(failed), -7},
             {all == 0 ? "-" : number(rejected / all * 100) + " %", -6},
             {top, 19}}
        )});
    }
    return lines;
}

std::vector<top_line> store_lines(const top_figures& of)
{
    std::vector<top_line> lines{
        {row(
             {{"STORE", 18},
              {"state", 5},
              {"since", 8},
              {"breaker", 7},
              {"p99", -9},
              {"calls/s", -8},
              {"failures/s", 19}}
         ),
         top_look::title}};
    for (const json::object* const s : of.rows("stores")) {
        const std::string name = member_text(*s, "store");
        const std::string state = member_text(*s, "state");
        std::string rest = member_text(*s, "buckets") + " buckets";
        const bool shared = s->contains("breaker");
        if (shared) {
            rest =
                number(of.rate("stores", name, "failures")) + ' ' + member_text(*s, "last_failure");
        }
        const double since = number_of(*s, "since");
        lines.push_back(
            {row(
                 {{name, 18},
                  {state, 5},
                  {since > 0 ? clock_time(since) : "", 8},
                  {member_text(*s, "breaker"), 7},
                  {milliseconds(of.latest("stores", name, "p99")), -9},
                  {shared ? number(of.rate("stores", name, "calls")) : "", -8},
                  {rest, 19}}
             ),
             state == "down" ? top_look::bad : top_look::plain}
        );
    }
    return lines;
}

std::vector<top_line> server_lines(const top_figures& of)
{
    std::vector<top_line> lines{
        {row(
             {{"UPSTREAM", 14},
              {"server", 21},
              {"state", 5},
              {"flight", -6},
              {"p99", -9},
              {"why", 20}}
         ),
         top_look::title}};
    for (const json::object* const s : of.rows("servers")) {
        const std::string upstream = member_text(*s, "upstream");
        const std::string state = member_text(*s, "state");
        std::string why = is_true(*s, "healthy") ? "" : "fails health checks";
        if (s->contains("ejected_for")) {
            why = "ejected, " + member_text(*s, "ejected_for") + " s left";
        }
        lines.push_back(
            {row(
                 {{upstream, 14},
                  {member_text(*s, "server"), 21},
                  {state, 5},
                  {member_text(*s, "in_flight"), -6},
                  {milliseconds(of.latest("upstreams", upstream, "p99")), -9},
                  {why, 20}}
             ),
             state == "down" ? top_look::bad : top_look::plain}
        );
    }
    return lines;
}

std::vector<top_line> rejection_lines(const top_figures& of)
{
    std::vector<top_line> lines{
        {row({{"REJECTED", 8}, {"limit", 18}, {"client", 20}, {"retry", -6}, {"request id", 36}}),
         top_look::title}};
    for (const json::object& r : of.rejections()) {
        lines.push_back({row(
            {{clock_time(number_of(r, "at")), 8},
             {member_text(r, "limit"), 18},
             {client_of(r), 20},
             {r.contains("retry_after") ? member_text(r, "retry_after") + " s" : "-", -6},
             {member_text(r, "request_id"), 36}}
        )});
    }
    return lines;
}

}  // namespace gateway
