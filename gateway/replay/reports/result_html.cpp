#include "gateway/replay/reports/html_text.hpp"
#include "gateway/replay/reports/number_text.hpp"
#include "gateway/replay/reports/plot.hpp"
#include "gateway/replay/reports/reports.hpp"

#include <string_view>

namespace gateway::replay {

namespace {

constexpr std::string_view page_begin = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>gateway replay</title>
<style>
:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --line: #c9d1d9; --soft: #57606a;
  --allowed: #4a8bc2; --rejected: #c9372c; --unjudged: #8c8f94; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --line: #3d444d;
  --soft: #9da7b3; --allowed: #4f8fd0; --rejected: #ff6a5e; --unjudged: #868d96; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } h3 { font-size: 1rem; }
p.soft, caption { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; unicode-bidi: isolate; direction: ltr;
  white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
.wide { margin-top: 1rem; }
@media (max-width: 40rem) { svg text { font-size: 20px; } }
svg { width: 100%; height: auto; font-size: 12px; } svg text { fill: var(--soft); }
svg line { stroke: var(--line); } .allowed { fill: var(--allowed); } .rejected { fill: var(--rejected); }
.unjudged { fill: var(--unjudged); } .curve { fill: none; stroke: var(--allowed); stroke-width: 2; }
.pair { fill: var(--allowed); } .best { fill: var(--rejected); }
.key { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 .8rem; }
.key.allowed { background: var(--allowed); } .key.rejected { background: var(--rejected); }
.key.unjudged { background: var(--unjudged); }
code { overflow-wrap: anywhere; }
</style></head><body><main>
<h1>What this policy would have done</h1>
)";

constexpr std::string_view colours =
    "<p class=\"soft\"><span class=\"key allowed\"></span>allowed"
    "<span class=\"key rejected\"></span>rejected"
    "<span class=\"key unjudged\"></span>not judged</p>\n";

// `page` is the page as far as it is written.
class page {
public:
    void add(std::string_view markup) { out_ += markup; }

    void add_text(std::string_view text) { append_html(out_, text); }

    void add_paragraph(std::string_view text)
    {
        add("<p>");
        add_text(text);
        add("</p>\n");
    }

    void begin_table(std::string_view caption, std::initializer_list<std::string_view> columns)
    {
        add("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
        add_text(caption);
        add("\"><table><caption>");
        add_text(caption);
        add("</caption><thead><tr>");
        for (const std::string_view c : columns) {
            add("<th scope=\"col\">");
            add_text(c);
            add("</th>");
        }
        add("</tr></thead><tbody>\n");
    }

    void add_row(std::initializer_list<std::string_view> cells)
    {
        add("<tr>");
        for (const std::string_view c : cells) {
            add("<td>");
            add_text(c);
            add("</td>");
        }
        add("</tr>\n");
    }

    void end_table() { add("</tbody></table></div>\n"); }

    std::string take() { return std::move(out_); }

private:
    std::string out_{page_begin};
};

void add_unknown(page& p, const std::vector<unknown_thing>& unknown)
{
    for (const unknown_thing& u : unknown) {
        p.add_row({"not judged: the log does not tell " + u.what, grouped(u.requests), ""});
    }
}

void add_head(page& p, const replay_result& r)
{
    p.add_paragraph(
        grouped(r.lines.lines) + " lines from " + moment_text(r.begin) + " to " +
        moment_text(r.end) + " UTC."
    );
    if (const auto& bad = r.lines.first_bad) {
        p.add("<p>");
        p.add_text(
            grouped(r.lines.bad) + " lines could not be read. The first is " + bad->file + ":" +
            std::to_string(bad->line) + ": "
        );
        p.add("<code>");
        p.add_text(bad->text);
        p.add("</code></p>\n");
    }
    if (r.lines.late > 0) {
        p.add_paragraph(
            grouped(r.lines.late) +
            " lines came too late to be put in order, and count from when they came."
        );
    }
    const std::uint64_t all = r.allowed + r.rejected + r.unjudged;
    p.begin_table("Requests", {"verdict", "requests", "share"});
    p.add_row({"allowed", grouped(r.allowed), percent(r.allowed, all)});
    p.add_row({"rejected", grouped(r.rejected), percent(r.rejected, all)});
    p.add_row({"not judged", grouped(r.unjudged), percent(r.unjudged, all)});
    add_unknown(p, r.unknown);
    p.end_table();
    if (r.malformed > 0) {
        p.add_paragraph(grouped(r.malformed) + " more were malformed, and reached no limit.");
    }
    if (r.envoy_calls > 0) {
        p.add_paragraph(
            grouped(r.envoy_calls) + " more lines are answers to Envoy, and are left out."
        );
    }
    p.add(colours);
    p.add(timeline_plot(r.over_time));
}

void add_difference(page& p, std::string_view title, const difference& d)
{
    p.add("<h2>");
    p.add_text(title);
    p.add("</h2>\n");
    const std::uint64_t same = d.compared - d.newly_rejected - d.newly_allowed;
    p.begin_table("Requests with two verdicts", {"verdict", "requests", "share"});
    p.add_row({"newly rejected", grouped(d.newly_rejected), percent(d.newly_rejected, d.compared)});
    p.add_row({"newly allowed", grouped(d.newly_allowed), percent(d.newly_allowed, d.compared)});
    p.add_row({"the same", grouped(same), percent(same, d.compared)});
    p.end_table();
    if (d.clients.empty()) {
        return;
    }
    p.begin_table("Clients that fare otherwise", {"client", "newly rejected", "newly allowed"});
    for (const client_count& c : d.clients) {
        p.add_row({c.client, grouped(c.rejected), grouped(c.allowed)});
    }
    p.end_table();
}

void add_clients(page& p, const limit_result& l)
{
    if (l.clients.empty()) {
        return;
    }
    p.begin_table(
        grouped(l.all_clients) + " clients, of which " + grouped(l.rejected_clients) +
            " would have been rejected; the busiest are",
        {"client", "allowed", "rejected", "share", "first rejected", "last rejected"}
    );
    for (const client_count& c : l.clients) {
        const bool any = c.rejected > 0;
        p.add_row(
            {c.client,
             grouped(c.allowed),
             grouped(c.rejected),
             percent(c.rejected, c.allowed + c.rejected),
             any ? moment_text(c.first_rejected) : "",
             any ? moment_text(c.last_rejected) : ""}
        );
    }
    p.end_table();
}

void add_suggestion(page& p, const limit_result& l)
{
    p.add("<h3>Suggestion</h3>\n");
    if (!l.suggested) {
        p.add_paragraph("There is none: " + l.no_suggestion + ".");
        return;
    }
    const suggested_numbers& best = l.suggested->best;
    p.add_paragraph(
        "rate: " + best.rate + ", burst: " + std::to_string(best.burst) + ". It rejects " +
        percent(best.requests) + " of the requests, and " + percent(best.clients) +
        " of the clients."
    );
    if (!l.suggested->without.empty()) {
        p.add_paragraph(
            "These numbers are for the bare rate and burst, without what these keys change: " +
            joined(l.suggested->without) + "."
        );
    }
    p.add(curve_plot(*l.suggested));
    p.begin_table("Other numbers", {"rate", "burst", "requests rejected", "clients rejected"});
    for (const suggested_numbers& n : l.suggested->curve) {
        p.add_row({n.rate, std::to_string(n.burst), percent(n.requests), percent(n.clients)});
    }
    p.end_table();
}

void add_limit(page& p, const limit_result& l, bool asked)
{
    p.add("<h2>Limit ");
    p.add_text(l.name);
    p.add("</h2>\n");
    p.add_paragraph(
        "rate: " + l.rate + ", burst: " + std::to_string(l.burst) +
        (l.shadow ? ", mode: shadow. It rejects nobody; its rejections are what it would reject."
                  : "")
    );
    const std::uint64_t judged = l.allowed + l.rejected;
    p.begin_table("Requests under it", {"verdict", "requests", "share"});
    p.add_row({"allowed", grouped(l.allowed), percent(l.allowed, judged)});
    p.add_row({"rejected", grouped(l.rejected), percent(l.rejected, judged)});
    add_unknown(p, l.unknown);
    p.end_table();
    p.add(colours);
    p.add(timeline_plot(l.over_time));
    add_clients(p, l);
    if (asked) {
        add_suggestion(p, l);
    }
}

}  // namespace

std::string as_html(const replay_result& r)
{
    page p;
    add_head(p, r);
    if (r.against) {
        add_difference(p, "Compared with the other policy", *r.against);
    }
    if (r.logged) {
        add_difference(p, "Compared with the verdicts in the log", *r.logged);
    }
    for (const limit_result& l : r.limits) {
        add_limit(p, l, r.accepted.any());
    }
    p.add("</main></body></html>\n");
    return p.take();
}

}  // namespace gateway::replay
