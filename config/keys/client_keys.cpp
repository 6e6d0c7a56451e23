// `describe_client` describes the section `client`: how clients are identified.
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_header_name = 128;

// Headers with another meaning, which proxies rewrite or remove, name no client.
std::string complaint_about_header(const std::string& name)
{
    const http::field_name id = http::classify(name);
    if (!is_token(name, longest_header_name)) {
        return "expected the name of a header, got " + quote(name);
    }
    return http::hop_by_hop.contains(id) || id == http::field_name::host ||
                   id == http::field_name::content_length || id == http::field_name::via
               ? name + " never holds the address of a client"
               : "";
}

base::ip_prefix_set load_prefixes(section& from)
{
    std::vector<base::ip_prefix> prefixes;
    from.each_item("trusted_proxies", max_trusted_proxies, {}, [&](const located& item) {
        const std::string expected =
            "an address or a prefix such as 10.0.0.0/8, no bits set after its length";
        const std::string* const text = scalar_text(item, expected, from.found());
        const auto prefix = text == nullptr ? std::nullopt : base::ip_prefix::parse(*text);
        if (prefix && text->ends_with("/0")) {
            from.found().warning(item, "everybody is trusted to name any client address");
        }
        if (prefix) {
            prefixes.push_back(*prefix);
        } else if (text != nullptr) {
            from.found().problem(item, "expected " + expected + ", got " + quote(*text));
        }
    });
    return base::ip_prefix_set{std::move(prefixes)};
}

}  // namespace

void describe_client(keys& root, draft& d)
{
    identity::client_options& options = d.policy.client;
    constexpr key itself{
        .name = "client", .summary = "how the gateway finds out which client calls"};
    root(itself).mapping([&](keys& k) {
        k("trusted_proxies", "addresses and CIDRs of the proxies that may say who the client is")
            .other(
                {.documented = {"`[]`", "at most 1000"},
                 .schema = R"({"type":"array","items":{"type":"string"},"maxItems":1000})",
                 .read = [&](section& from) { options.trusted_proxies = load_prefixes(from); },
                 .print =
                     [&] {
                         return yaml_list(options.trusted_proxies.prefixes(), [](const auto& p) {
                             return p.to_string();
                         });
                     }}
            );
        k("trusted_hops", "the exact number of your own proxies in front")
            .number(options.trusted_hops, {0, identity::max_forwarded_elements});
        k.rule([&d](section& from) {
            if (from.has("trusted_hops")) {
                d.client = from.value("trusted_hops");
            }
        });
        k("header",
          "the header in which these proxies name the client: also `Forwarded` (RFC 7239), or one "
          "with a single address such as `X-Real-IP`")
            .text(options.header, {"`X-Forwarded-For`", "a header name"}, complaint_about_header);
        k("ipv4_prefix",
          "the length of a prefix; IPv4 addresses with the same prefix are one client")
            .number(options.ipv4_prefix, {1, 32});
        k("ipv6_prefix",
          "the length of a prefix; IPv6 addresses with the same prefix are one client. A "
          "household often owns a whole /64")
            .number(options.ipv6_prefix, {1, 128});
    });
}

}  // namespace gateway::config
