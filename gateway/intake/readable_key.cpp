#include "gateway/intake/readable_key.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/intake/request_key.hpp"
#include "gateway/intake/routed_request.hpp"
#include "gateway/policy/stated_value.hpp"

#include <boost/json.hpp>

namespace gateway::intake {

namespace {

using part_source = policy::key_part::source;

std::string name_of_parts(const policy::limit_rule& rule)
{
    std::string names;
    for (const policy::key_part& part : rule.key) {
        names.append(names.empty() ? ": " : ", ").append(part.text);
    }
    return names;
}

std::string add_address(
    const policy::policy& p,
    const policy::key_part& part,
    const std::string& value,
    identity::bucket_name& out
)
{
    const auto address = base::ip_address::parse(value);
    if (!address) {
        return "key: expected an IP address for " + part.text;
    }
    out.add(part.prefix == 0 ? client_prefix(p, *address) : cut(*address, part.prefix));
    return {};
}

std::string add_text(
    const policy::key_part& part, const std::string& value, identity::bucket_name& out
)
{
    http::part_value read;
    const std::string complaint = policy::read_stated_value(part, value, read);
    out.add(read.text());
    return complaint.empty() ? complaint : "key: " + complaint;
}

// True if the value at this position of the key may be a secret now, or was one in an earlier
// policy.
bool is_secret(const policy::policy& p, const policy::limit_rule& rule, std::size_t position)
{
    const auto former = p.former_secrets.find(rule.name);
    const bool was_secret =
        former != p.former_secrets.end() && (former->second >> position & 1) != 0;
    return was_secret || rule.key[position].may_be_secret();
}

}  // namespace

std::string name_bucket(
    const policy::policy& p,
    const policy::limit_rule& rule,
    std::span<const std::string> values,
    identity::bucket_name& out
)
{
    if (values.size() != rule.key.size()) {
        return "key: expected a list of " + std::to_string(rule.key.size()) + " texts" +
               name_of_parts(rule);
    }
    out.start(rule.name);
    std::string complaint;
    for (std::size_t i = 0; i < values.size() && complaint.empty(); ++i) {
        const policy::key_part& part = rule.key[i];
        complaint = part.from == part_source::client_ip ? add_address(p, part, values[i], out)
                                                        : add_text(part, values[i], out);
    }
    return complaint;
}

boost::json::array readable_key(
    const policy::policy& p, const policy::limit_rule& rule, std::string_view bucket_name
)
{
    boost::json::array readable;
    const auto parts = identity::parts_of(bucket_name);
    for (std::size_t i = 0; i < rule.key.size() && i + 1 < parts.size(); ++i) {
        boost::json::object one{{"part", rule.key[i].text}};
        if (const auto* address = std::get_if<base::ip_address>(&parts[i + 1])) {
            one["value"] = address->to_string();
        } else {
            const auto text = std::get<std::string_view>(parts[i + 1]);
            const bool secret = is_secret(p, rule, i);
            one[secret ? "sha256" : "value"] =
                secret ? base::sha256_hex128(text) : std::string{text};
        }
        readable.push_back(std::move(one));
    }
    return readable;
}

}  // namespace gateway::intake
