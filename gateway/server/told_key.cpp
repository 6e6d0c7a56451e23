#include "gateway/server/told_key.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/policy/path.hpp"
#include "gateway/server/request_key.hpp"

#include <boost/json.hpp>

namespace gateway::server {

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
    out.add(
        part.prefix == 0 ? address->masked(p.client.ipv4_prefix, p.client.ipv6_prefix)
                         : cut(*address, part.prefix)
    );
    return {};
}

std::string add_text(
    const policy::key_part& part, const std::string& value, identity::bucket_name& out
)
{
    std::string room;
    if (part.from == part_source::host) {
        policy::normalise_host(value, room);
        out.add(room);
        return {};
    }
    if (part.from == part_source::path && value != "*") {
        if (!value.starts_with('/')) {
            return "key: expected a path that begins with a slash";
        }
        const auto [path, refused_because] = policy::normalise_path(value, room);
        out.add(policy::without_final_slash(path));
        return refused_because.empty() ? std::string{} : "key: " + std::string{refused_because};
    }
    std::string_view read = value;
    part_value line;
    if (part.from == part_source::header) {
        read_header_line(part.name, value, line);
        read = line.text();
    }
    if (line.ambiguous()) {
        return "key: no request has this " + part.text + ", as it can be read in two ways";
    }
    if (read.empty()) {
        return "key: an empty " + part.text + " is as good as none";
    }
    out.add(read);
    return {};
}

// Whether its values may be what somebody signs in with.
bool may_be_secret(part_source from)
{
    switch (from) {
        case part_source::client_ip:
        case part_source::method:
        case part_source::host:
        case part_source::path:
        case part_source::route:
            return false;
        default:
            return true;
    }
}

}  // namespace

std::string name_told_bucket(
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

boost::json::array readable_key(const policy::limit_rule& rule, std::string_view bucket_name)
{
    boost::json::array readable;
    const auto parts = identity::parts_of(bucket_name);
    for (std::size_t i = 0; i < rule.key.size() && i + 1 < parts.size(); ++i) {
        boost::json::object one{{"part", rule.key[i].text}};
        if (const auto* address = std::get_if<base::ip_address>(&parts[i + 1])) {
            one["value"] = address->to_string();
        } else {
            const auto text = std::get<std::string_view>(parts[i + 1]);
            const bool secret = may_be_secret(rule.key[i].from);
            one[secret ? "sha256" : "value"] =
                secret ? base::sha256_hex128(text) : std::string{text};
        }
        readable.push_back(std::move(one));
    }
    return readable;
}

}  // namespace gateway::server
