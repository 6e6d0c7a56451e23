// client: who is calling.
#include "config/draft.hpp"
#include "config/text_rules.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_header_name = 128;

// Fields with another meaning, which proxies rewrite or remove.
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
                std::string{"expected "} + expected + ", got " + quoted(*text)
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

}  // namespace

void load_client(section& root, draft& d, findings& found)
{
    const node* value = root.find("client");
    if (value == nullptr) {
        return;
    }
    identity::client_options& options = d.policy.client;
    section client{{value, "client"}, found};
    const auto list = client.list("trusted_proxies");
    if (list && within(*list, max_trusted_proxies, found)) {
        options.trusted_proxies = load_prefixes(*list, found);
    }
    client.read_number("trusted_hops", options.trusted_hops, 0, identity::max_forwarded_elements);
    if (const node* hops = client.find("trusted_hops")) {
        d.client = {hops->at, "client.trusted_hops"};
    }
    if (const std::string* header = client.text("header")) {
        if (!is_token(*header, longest_header_name)) {
            client.problem("header", "expected the name of a header, got " + quoted(*header));
        } else if (names_no_client(*header)) {
            client.problem("header", *header + " never holds the address of a client");
        } else {
            options.header = *header;
        }
    }
    client.read_number("ipv4_prefix", options.ipv4_prefix, 1, 32);
    client.read_number("ipv6_prefix", options.ipv6_prefix, 1, 128);
    client.refuse_the_rest();
}

}  // namespace gateway::config
