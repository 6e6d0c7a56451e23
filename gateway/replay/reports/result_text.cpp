#include "gateway/replay/reports/number_text.hpp"
#include "gateway/replay/reports/reports.hpp"
#include "gateway/telemetry/escape.hpp"

#include <algorithm>
#include <string_view>

namespace gateway::replay {

namespace {

// Number of clients, and of pairs of a curve, that are shown.
constexpr std::size_t shown_clients = 10;
constexpr std::size_t shown_pairs = 8;
constexpr std::size_t width_of_client = 34;
// Columns of the chart.
constexpr std::size_t chart_columns = 60;

// Returns a text that a stranger chose, cut to the width.
std::string shown(std::string_view text, std::size_t width)
{
    std::string safe;
    telemetry::append_line_text(safe, text.substr(0, width * 2));
    if (safe.size() > width) {
        safe.resize(width - 3);
        safe += "...";
    }
    return safe;
}

std::string padded(std::string text, std::size_t width)
{
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string right(const std::string& text, std::size_t width)
{
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

void write_row(std::ostream& out, std::string_view name, std::uint64_t number, std::uint64_t all)
{
    out << "  " << padded(std::string{name}, 12) << right(grouped(number), 16)
        << right(percent(number, all), 12) << '\n';
}

// Writes a line of a chart: one character for each span of time, for the share that is rejected.
void write_chart(const timeline& t, std::ostream& out)
{
    const auto& bins = t.bins();
    std::string line;
    const std::size_t columns = std::min(chart_columns, bins.size());
    for (std::size_t c = 0; c < columns; ++c) {
        std::uint64_t all = 0;
        std::uint64_t rejected = 0;
        for (std::size_t i = c * bins.size() / columns; i < (c + 1) * bins.size() / columns; ++i) {
            all += bins[i][0] + bins[i][1];
            rejected += bins[i][1];
        }
        constexpr std::string_view marks = ".:-=+*#%@";
        const std::size_t level = all == 0 ? 0 : rejected * (marks.size() - 1) / all;
        line += rejected == 0 ? (all == 0 ? ' ' : '_') : marks[level];
    }
    out << "  when        [" << line << "]\n";
}

// Writes the span of time with the most rejections.
void write_worst(const timeline& t, std::ostream& out)
{
    const auto& bins = t.bins();
    const auto worst = std::max_element(bins.begin(), bins.end(), [](const auto& a, const auto& b) {
        return a[1] < b[1];
    });
    out << "  worst       " << moment_text(t.begin() + t.width() * (worst - bins.begin()))
        << " and the next " << span_text(t.width()) << ": " << grouped((*worst)[1]) << " of "
        << grouped((*worst)[0] + (*worst)[1]) << " rejected\n";
}

void write_client(const client_count& c, std::ostream& out)
{
    out << "  " << padded(shown(c.client, width_of_client - 1), width_of_client)
        << right(grouped(c.allowed), 12) << right(grouped(c.rejected), 12);
}

void write_clients(const std::vector<client_count>& clients, std::ostream& out)
{
    if (clients.empty()) {
        return;
    }
    out << "  " << padded("client", width_of_client) << right("allowed", 12)
        << right("rejected", 12) << "  last rejected\n";
    for (std::size_t i = 0; i < std::min(shown_clients, clients.size()); ++i) {
        write_client(clients[i], out);
        if (clients[i].rejected > 0) {
            // The date is that of the log; the time tells more here.
            out << "  " << moment_text(clients[i].last_rejected).substr(5);
        }
        out << '\n';
    }
}

void write_unknown(const std::vector<unknown_thing>& unknown, std::ostream& out)
{
    for (const unknown_thing& u : unknown) {
        out << "  " << grouped(u.requests) << " not judged: the log does not tell\n    "
            << shown(u.what, 74) << '\n';
    }
}

void write_suggestion(const limit_result& l, std::ostream& out)
{
    if (!l.suggested) {
        out << "  no suggestion: " << l.no_suggestion << '\n';
        return;
    }
    const suggested_numbers& best = l.suggested->best;
    out << "  suggested   rate: " << best.rate << ", burst: " << best.burst << "  (rejects "
        << percent(best.requests) << " of requests, " << percent(best.clients) << " of clients)\n";
    if (!l.suggested->without.empty()) {
        out << "  (for the bare rate and burst, without what these keys change:\n   "
            << joined(l.suggested->without) << ")\n";
    }
    const auto& curve = l.suggested->curve;
    if (curve.size() < 2) {
        return;
    }
    out << "  or          " << padded("rate", 14) << right("burst", 12) << right("requests", 12)
        << right("clients", 12) << '\n';
    const std::size_t rows = std::min(shown_pairs, curve.size());
    for (std::size_t i = 0; i < rows; ++i) {
        const suggested_numbers& n =
            curve[i * (curve.size() - 1) / std::max<std::size_t>(rows - 1, 1)];
        out << "              " << padded(n.rate, 14)
            << right(grouped(static_cast<std::uint64_t>(n.burst)), 12)
            << right(percent(n.requests), 12) << right(percent(n.clients), 12) << '\n';
    }
}

void write_limit(const limit_result& l, bool asked, std::ostream& out)
{
    const std::uint64_t judged = l.allowed + l.rejected;
    out << "\nlimit " << l.name << "  (rate: " << l.rate << ", burst: " << l.burst
        << (l.shadow ? ", mode: shadow)\n" : ")\n");
    if (judged + l.unjudged == 0) {
        out << "  no request came to it\n";
        return;
    }
    write_row(out, "allowed", l.allowed, judged);
    write_row(out, l.shadow ? "would reject" : "rejected", l.rejected, judged);
    write_unknown(l.unknown, out);
    if (judged > 0) {
        out << "  clients     " << right(grouped(l.all_clients), 16) << ", of which "
            << grouped(l.rejected_clients) << " (" << percent(l.rejected_clients, l.all_clients)
            << ") would have been rejected\n";
    }
    if (l.partial) {
        out << "  (more clients than are counted: those with few requests are left out)\n";
    }
    if (l.rejected > 0) {
        write_chart(l.over_time, out);
        write_worst(l.over_time, out);
    }
    write_clients(l.clients, out);
    if (asked) {
        write_suggestion(l, out);
    }
}

void write_difference(std::string_view title, const difference& d, std::ostream& out)
{
    out << '\n' << title << '\n';
    write_row(out, "newly rejected", d.newly_rejected, d.compared);
    write_row(out, "newly allowed", d.newly_allowed, d.compared);
    write_row(out, "the same", d.compared - d.newly_rejected - d.newly_allowed, d.compared);
    if (!d.clients.empty()) {
        out << "  " << padded("client", width_of_client) << right("+allowed", 12)
            << right("+rejected", 12) << '\n';
    }
    for (std::size_t i = 0; i < std::min(shown_clients, d.clients.size()); ++i) {
        write_client(d.clients[i], out);
        out << '\n';
    }
}

void write_head(const replay_result& r, std::ostream& out)
{
    out << grouped(r.lines.lines) << " lines";
    if (r.lines.lines > r.lines.bad) {
        out << ", " << moment_text(r.begin) << " to " << moment_text(r.end) << " UTC";
    }
    out << '\n';
    for (const std::string& f : r.formats) {
        out << "  read as " << f << '\n';
    }
    for (const std::string& name : r.empty_logs) {
        out << "  " << shown(name, 60) << " has no lines\n";
    }
    if (const auto& bad = r.lines.first_bad) {
        out << "  " << grouped(r.lines.bad) << " could not be read; the first is "
            << shown(bad->file, 40) << ':' << bad->line << ":\n    " << shown(bad->text, 74)
            << '\n';
    }
    if (r.lines.late > 0) {
        out << "  " << grouped(r.lines.late)
            << " came too late to be put in order, and count from when they came\n";
    }
}

}  // namespace

void write_text(const replay_result& r, std::ostream& out)
{
    write_head(r, out);
    const std::uint64_t all = r.allowed + r.rejected + r.unjudged;
    out << "\nrequests\n";
    write_row(out, "allowed", r.allowed, all);
    write_row(out, "rejected", r.rejected, all);
    write_row(out, "not judged", r.unjudged, all);
    write_unknown(r.unknown, out);
    if (r.unlimited > 0) {
        out << "  (" << grouped(r.unlimited) << " of the allowed ones are under no limit)\n";
    }
    if (r.malformed > 0) {
        out << "  (" << grouped(r.malformed) << " more were malformed, and reached no limit)\n";
    }
    if (r.envoy_calls > 0) {
        out << "  (" << grouped(r.envoy_calls)
            << " more lines are answers to Envoy, and are left out)\n";
    }
    for (const limit_result& l : r.limits) {
        write_limit(l, r.accepted.any(), out);
    }
    if (r.against) {
        write_difference("compared with the other policy", *r.against, out);
    }
    if (r.logged) {
        write_difference("compared with the verdicts in the log", *r.logged, out);
    }
}

}  // namespace gateway::replay
