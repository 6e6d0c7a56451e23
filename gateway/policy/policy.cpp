#include "gateway/policy/policy.hpp"

#include "gateway/policy/content_paths.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gateway::policy {

namespace {

bool is_host(const key_part& part)
{
    return part.from == key_part::source::host;
}

bool reads_host(const limit_rule& rule)
{
    return std::any_of(rule.key.begin(), rule.key.end(), is_host);
}

// Returns the parts that are read of a request: those of the limit's key, and that of its plans.
std::vector<const key_part*> parts_of(
    const limit_rule& rule, const std::vector<plan_section>& plans
)
{
    std::vector<const key_part*> parts;
    for (const key_part& part : rule.key) {
        parts.push_back(&part);
    }
    if (rule.plan.plans != no_plans) {
        parts.push_back(&plans[rule.plan.plans].key);
    }
    return parts;
}

bool reads_token(const limit_rule& rule, const std::vector<plan_section>& plans)
{
    const auto parts = parts_of(rule, plans);
    return rule.claimed.any() || std::any_of(parts.begin(), parts.end(), [](const key_part* part) {
               return part->from == key_part::source::jwt;
           });
}

bool is_claim(const log_field& f)
{
    return f.part.from == key_part::source::jwt;
}

// Returns the names of all claims that keys, numbers and log fields name.
std::vector<std::string> claims_of(
    const std::vector<limit_rule>& limits,
    const std::vector<plan_section>& plans,
    const std::vector<log_field>& log_fields
)
{
    std::set<std::string> names;
    for (const log_field& f : log_fields) {
        if (is_claim(f)) {
            names.insert(f.part.name);
        }
    }
    for (const limit_rule& rule : limits) {
        for (std::string& claim : rule.claimed.claims()) {
            names.insert(std::move(claim));
        }
        for (const key_part* part : parts_of(rule, plans)) {
            if (part->from == key_part::source::jwt) {
                names.insert(part->name);
            }
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> headers_read_by(const policy& p)
{
    std::set<std::string> names;
    for (const limit_rule& rule : p.limits) {
        for (const key_part* part : parts_of(rule, p.plans)) {
            if (part->from == key_part::source::header) {
                names.insert(part->name);
            }
        }
        if (rule.cost.from == cost_rule::source::header) {
            names.insert(rule.cost.name);
        }
    }
    for (const route& r : p.routes) {
        for (const header_match& m : r.match.headers) {
            names.insert(m.name);
        }
    }
    if (p.token && p.token->in == token_rule::carrier::header) {
        names.insert(p.token->name);
    }
    return {names.begin(), names.end()};
}

void number_keys(std::vector<limit_rule>& limits)
{
    std::map<std::pair<std::vector<key_part>, missing_key>, std::size_t> numbers;
    for (limit_rule& rule : limits) {
        const auto known = numbers.try_emplace({rule.key, rule.when_missing}, numbers.size());
        rule.key_number = known.first->second;
    }
}

}  // namespace

// Numbers the paths to members of contents, and notes which of them routes need.
// Requires: there are no more than json_paths::most.
void policy::number_paths()
{
    content::path_set found = 0;
    const auto number_in = [&found](content::json_paths& all) {
        return [&all, &found](const std::string& path, std::size_t& index) {
            index = all.add(path).value();
            found |= content::only(index);
        };
    };
    std::vector<content::path_set> of_limits;
    for (limit_rule& rule : limits) {
        found = 0;
        each_request_path(rule, plans, number_in(request_paths));
        of_limits.push_back(found);
        each_response_path(rule, number_in(response_paths));
    }
    for (log_field& f : log_fields) {
        each_path_of_part(f.part, number_in(request_paths));
    }
    found = 0;
    for (route& r : routes) {
        each_matched_path(r.match, number_in(request_paths));
    }
    route_paths = found;
    for (route& r : routes) {
        if (r.rejection && r.rejection->format == http::error_format::jsonrpc) {
            r.rpc_id_path = request_paths.add("id").value();
        }
        for (const std::size_t i : r.limits) {
            r.content_paths |= of_limits[i];
            r.reads_usage = r.reads_usage || !limits[i].outcome.usage.empty();
        }
    }
}

void policy::note_reported(const std::vector<std::size_t>& from, route& of) const
{
    of.reports_limits = of.may_warn = false;
    of.limit_words.clear();
    for (const std::size_t i : from) {
        const limit_rule& rule = limits[i];
        if (!rule.enforced()) {
            continue;
        }
        of.reports_limits = of.reports_limits || rule.fields.usual();
        of.may_warn = of.may_warn || (rule.soft > 0 && !rule.fields.hidden);
        const std::string& word = rule.fields.word;
        auto& words = of.limit_words;
        if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
            words.push_back(word);
        }
    }
}

void policy::note_former_secrets(const policy& before)
{
    former_secrets = before.former_secrets;
    for (const limit_rule& rule : before.limits) {
        for (std::size_t i = 0; i < rule.key.size(); ++i) {
            if (rule.key[i].may_be_secret()) {
                former_secrets[rule.name] |= std::uint32_t{1} << i;
            }
        }
    }
}

void policy::finish()
{
    number_keys(limits);
    for (limit_rule& rule : limits) {
        rule.may_be_corrected = rule.may_change();
    }
    for (route& r : routes) {
        const auto with_token =
            std::stable_partition(r.limits.begin(), r.limits.end(), [this](std::size_t i) {
                return !reads_token(limits[i], plans);
            });
        r.limits_without_token = static_cast<std::size_t>(with_token - r.limits.begin());
        r.reads_token = token && with_token != r.limits.end();
        note_reported(r.limits, r);
        r.corrects = std::any_of(r.limits.begin(), r.limits.end(), [this](std::size_t i) {
            return limits[i].may_change();
        });
        r.shape.request.hides_over_limit = r.serves_over_limit();
        r.shaped = r.shape.any();
        r.holds = std::any_of(r.limits.begin(), r.limits.end(), [this](std::size_t i) {
            return limits[i].max_wait > base::duration{0};
        });
        for (const std::size_t i : r.limits) {
            limits[i].may_be_corrected = limits[i].may_be_corrected || r.holds;
        }
        r.counts_permits = std::any_of(r.limits.begin(), r.limits.end(), [this](std::size_t i) {
            return limits[i].limit.counts_in_flight();
        });
    }
    for (rate_limit_service& s : services) {
        s.as_route.name = "rate_limit_service:" + s.name;
        s.as_route.upstream = no_upstream;
        std::vector<std::size_t> all;
        for (const descriptor_rule& rule : s.descriptors) {
            all.insert(all.end(), rule.limits.begin(), rule.limits.end());
        }
        note_reported(all, s.as_route);
    }
    logs_claims = token && std::any_of(log_fields.begin(), log_fields.end(), is_claim);
    if (token) {
        token->good.claims = claims_of(limits, plans, log_fields);
    }
    for (limit_rule& rule : limits) {
        if (rule.plan.plans != no_plans) {
            const plan_section& section = plans[rule.plan.plans];
            rule.plan.finish(*section.members, section.standard);
        }
    }
    number_paths();
    find_route = matcher{routes};
    read_headers = headers_read_by(*this);
    reads_hosts =
        std::any_of(limits.begin(), limits.end(), reads_host) ||
        std::any_of(
            plans.begin(), plans.end(), [](const plan_section& p) { return is_host(p.key); }
        ) ||
        std::any_of(
            log_fields.begin(), log_fields.end(), [](const log_field& f) { return is_host(f.part); }
        ) ||
        std::any_of(routes.begin(), routes.end(), [](const route& r) {
            return !r.match.host.empty();
        });
}

}  // namespace gateway::policy
