// `describe_client` describes the section `client`: how clients are identified.
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_header_name = 128;

// True for a header with another meaning, which proxies rewrite or remove.
bool names_no_client(std::string_view header)
{
    const http::field_name id = http::classify(header);
    return http::hop_by_hop.contains(id) || id == http::field_name::host ||
           id == http::field_name::content_length || id == http::field_name::via;
}

base::ip_prefix_set load_prefixes(const located& list, findings& found)
{
    std::vector<base::ip_prefix> prefixes;
    for (std::size_t i = 0; i < list.value->items.size(); ++i) {
        const located item = item_of(list, i);
        constexpr const char* expected =
            "an address or a prefix such as 10.0.0.0/8, no bits set after its length";
        const std::string* text = scalar_text(item, expected, found);
        if (text == nullptr) {
            continue;
        }
        const auto prefix = base::ip_prefix::parse(*text);
        if (!prefix) {
            found.problem(
                item.value->at,
                item.path,
                std::string{"expected "} + expected + ", got " + quote(*text)
            );
            continue;
        }
        if (text->ends_with("/0")) {
            found.warning(
                item.value->at, item.path, "everybody is trusted to name any client address"
            );
        }
        prefixes.push_back(*prefix);
    }
    return base::ip_prefix_set{std::move(prefixes)};
}

void load_header(section& from, std::string& header)
{
    const std::string* text = from.text("header");
    if (text == nullptr) {
        return;
    }
    if (!is_token(*text, longest_header_name)) {
        from.problem("header", "expected the name of a header, got " + quote(*text));
    } else if (names_no_client(*text)) {
        from.problem("header", *text + " never holds the address of a client");
    } else {
        header = *text;
    }
}

void describe_proxies(keys& client, draft& d)
{
    identity::client_options& options = d.policy.client;
    client.other(
        {"trusted_proxies", "addresses and CIDRs whose word about the client we take"},
        {.says = {"`[]`", "at most 1000"},
         .schema = R"({"type":"array","items":{"type":"string"},"maxItems":1000})",
         .read =
             [&](section& from) {
                 const auto list = from.list("trusted_proxies");
                 if (list && within(*list, max_trusted_proxies, from.found())) {
                     options.trusted_proxies = load_prefixes(*list, from.found());
                 }
             },
         .print =
             [&] {
                 return yaml_list(options.trusted_proxies.prefixes(), [](const auto& p) {
                     return p.to_string();
                 });
             }}
    );
    client.number(
        {"trusted_hops", "exactly this many proxies of ours stand in front"},
        options.trusted_hops,
        0,
        identity::max_forwarded_elements
    );
    client.rule([&d](section& from) {
        if (const node* hops = from.find("trusted_hops")) {
            d.client = {hops->at, "client.trusted_hops"};
        }
    });
}

}  // namespace

void describe_client(keys& root, draft& d)
{
    identity::client_options& options = d.policy.client;
    root.mapping({"client", {}}, [&](keys& client) {
        describe_proxies(client, d);
        client.other(
            {"header",
             "where they write it: also `Forwarded` (RFC 7239), or a header with one address such "
             "as `X-Real-IP`"},
            {.says = {"`X-Forwarded-For`", "a header name"},
             .read = [&](section& from) { load_header(from, options.header); },
             .print = [&] { return yaml(options.header); }}
        );
        client.number(
            {"ipv4_prefix", "IPv4 addresses in one prefix are one client"},
            options.ipv4_prefix,
            1,
            32
        );
        client.number(
            {"ipv6_prefix", "the same for IPv6, where a household often owns a whole /64"},
            options.ipv6_prefix,
            1,
            128
        );
    });
}

}  // namespace gateway::config
