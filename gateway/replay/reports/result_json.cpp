#include "gateway/base/utf8.hpp"
#include "gateway/replay/reports/reports.hpp"

#include <boost/json.hpp>

namespace gateway::replay {

namespace {

namespace json = boost::json;

double in_seconds(base::duration d)
{
    return static_cast<double>(d.count()) / 1e9;
}

json::array as_json(const std::vector<client_count>& clients)
{
    json::array all;
    for (const client_count& c : clients) {
        json::object o{
            {"client", base::as_utf8(c.client)}, {"allowed", c.allowed}, {"rejected", c.rejected}};
        if (c.rejected > 0) {
            o["first_rejected"] = in_seconds(c.first_rejected);
            o["last_rejected"] = in_seconds(c.last_rejected);
        }
        all.emplace_back(std::move(o));
    }
    return all;
}

json::array as_json(const std::vector<unknown_thing>& unknown)
{
    json::array all;
    for (const unknown_thing& u : unknown) {
        all.emplace_back(json::object{{"missing", base::as_utf8(u.what)}, {"requests", u.requests}}
        );
    }
    return all;
}

json::object as_json(const suggested_numbers& n)
{
    return {
        {"rate", n.rate},
        {"burst", n.burst},
        {"per_second", n.per_second},
        {"share", n.requests},
        {"client_share", n.clients}};
}

json::value as_json(const std::optional<suggestion>& s)
{
    if (!s) {
        return nullptr;
    }
    json::object o = as_json(s->best);
    json::array curve;
    for (const suggested_numbers& n : s->curve) {
        curve.emplace_back(as_json(n));
    }
    o["curve"] = std::move(curve);
    o["without"] = json::array(s->without.begin(), s->without.end());
    return o;
}

json::object as_json(const timeline& t)
{
    json::array bins;
    for (const timeline::counts& c : t.bins()) {
        bins.emplace_back(json::array{c[0], c[1], c[2]});
    }
    return {
        {"begin", in_seconds(t.begin())},
        {"bin_seconds", in_seconds(t.width())},
        {"bins", std::move(bins)}};
}

json::object as_json(const limit_result& l, bool asked)
{
    json::object o{
        {"rate", l.rate},
        {"burst", l.burst},
        {"mode", l.shadow ? "shadow" : "enforce"},
        {"allowed", l.allowed},
        {"rejected", l.rejected},
        {"unjudged", l.unjudged},
        {"unjudged_because", as_json(l.unknown)},
        {"client_count", l.all_clients},
        {"rejected_clients", l.rejected_clients},
        {"clients", as_json(l.clients)},
        {"timeline", as_json(l.over_time)}};
    if (l.partial) {
        o["clients_are_partial"] = true;
    }
    if (asked) {
        o["suggestion"] = as_json(l.suggested);
        if (!l.suggested) {
            o["no_suggestion"] = l.no_suggestion;
        }
    }
    return o;
}

json::object as_json(const difference& d)
{
    return {
        {"compared", d.compared},
        {"newly_rejected", d.newly_rejected},
        {"newly_allowed", d.newly_allowed},
        {"clients", as_json(d.clients)}};
}

}  // namespace

json::object as_json(const replay_result& r)
{
    json::object o{{"lines", r.lines.lines}, {"bad_lines", r.lines.bad}};
    if (const auto& bad = r.lines.first_bad) {
        o["first_bad_line"] = json::object{
            {"file", base::as_utf8(bad->file)},
            {"line", bad->line},
            {"text", base::as_utf8(bad->text)}};
    } else {
        o["first_bad_line"] = nullptr;
    }
    o["late_lines"] = r.lines.late;
    o["formats"] = json::array(r.formats.begin(), r.formats.end());
    o["begin"] = in_seconds(r.begin);
    o["end"] = in_seconds(r.end);
    o["allowed"] = r.allowed;
    o["rejected"] = r.rejected;
    o["unjudged"] = r.unjudged;
    o["unjudged_because"] = as_json(r.unknown);
    o["unlimited"] = r.unlimited;
    o["malformed"] = r.malformed;
    o["envoy_calls"] = r.envoy_calls;
    json::object limits;
    for (const limit_result& l : r.limits) {
        limits[l.name] = as_json(l, r.accepted.any());
    }
    o["limits"] = std::move(limits);
    if (r.against) {
        o["against"] = as_json(*r.against);
    }
    if (r.logged) {
        o["logged"] = as_json(*r.logged);
    }
    o["timeline"] = as_json(r.over_time);
    return o;
}

}  // namespace gateway::replay
