#include "gateway/identity/client_address.hpp"

#include "gateway/base/text.hpp"
#include "gateway/identity/forwarded_element.hpp"

#include <optional>

namespace gateway::identity {

namespace {

using base::ip_address;

enum class header_kind { list, forwarded, one_address };

header_kind kind_of(std::string_view header)
{
    constexpr std::string_view common = "X-Forwarded-For";
    if (header == common || base::equal_ignoring_case(header, common)) {
        return header_kind::list;
    }
    return base::equal_ignoring_case(header, "Forwarded") ? header_kind::forwarded
                                                          : header_kind::one_address;
}

// `element_walk` takes the header's elements from right to left, each cut off only when needed.
class element_walk {
public:
    element_walk(list_form form, std::span<const std::string_view> lines)
        : form_(form), lines_left_(lines)
    {}

    // Returns the next element that is not empty. Nothing at the left end and after
    // max_forwarded_elements.
    std::optional<std::string_view> next()
    {
        while (examined_ < max_forwarded_elements) {
            if (line_.empty()) {
                if (lines_left_.empty()) {
                    return std::nullopt;
                }
                line_ = lines_left_.back();
                lines_left_ = lines_left_.first(lines_left_.size() - 1);
            }
            if (const auto element = cut_last_element(form_, line_); !element.empty()) {
                ++examined_;
                return element;
            }
        }
        return std::nullopt;
    }

private:
    list_form form_;
    std::span<const std::string_view> lines_left_;
    std::string_view line_;  // The rest of the line being walked.
    int examined_ = 0;
};

std::optional<ip_address> parse_element(list_form form, std::string_view element)
{
    return form == list_form::plain ? parse_plain_element(element)
                                    : parse_forwarded_element(element);
}

// Counts elements from the right. An element that is no address cannot be counted over, because
// anybody may have written what is left of it.
found_client count_hops(list_form form, int hops, const ip_address& peer, element_walk walk)
{
    std::optional<ip_address> client = peer;
    for (int hop = 0; hop < hops; ++hop) {
        const auto element = walk.next();
        client = element ? parse_element(form, *element) : std::nullopt;
        if (!client) {
            return {peer, client_reason::not_countable};
        }
    }
    return {*client, client_reason::counted, hops};
}

found_client walk_trusted(
    list_form form, const base::ip_prefix_set& trusted, const ip_address& peer, element_walk walk
)
{
    found_client client{peer, client_reason::all_trusted};
    while (const auto element = walk.next()) {
        const auto address = parse_element(form, *element);
        if (!address) {
            client.why = client_reason::unreadable;
            break;
        }
        client.address = *address;
        ++client.hop;
        if (!trusted.contains(client.address)) {
            client.why = client_reason::first_untrusted;
            break;
        }
    }
    return client;
}

found_client only_address(const ip_address& peer, element_walk walk)
{
    const auto only = walk.next();
    const bool ambiguous = walk.next().has_value();
    const auto address = only && !ambiguous ? parse_plain_element(*only) : std::nullopt;
    return address ? found_client{*address, client_reason::only_address, 1}
                   : found_client{peer, client_reason::no_one_address};
}

found_client find_vouched(
    const client_options& options, const ip_address& peer, std::span<const std::string_view> lines
)
{
    if (lines.empty()) {
        return {peer, client_reason::no_header};
    }
    const header_kind kind = kind_of(options.header);
    const list_form form = kind == header_kind::forwarded ? list_form::forwarded : list_form::plain;
    const element_walk walk{form, lines};
    if (kind == header_kind::one_address) {
        return only_address(peer, walk);
    }
    return options.trusted_hops > 0 ? count_hops(form, options.trusted_hops, peer, walk)
                                    : walk_trusted(form, options.trusted_proxies, peer, walk);
}

}  // namespace

bool is_trusted(const client_options& options, const ip_address& peer)
{
    return options.trusted_proxies.empty() ? options.trusted_hops > 0
                                           : options.trusted_proxies.contains(peer);
}

ip_address client_address(
    const client_options& options, const ip_address& peer, std::span<const std::string_view> lines
)
{
    return is_trusted(options, peer) ? vouched_address(options, peer, lines) : peer;
}

found_client find_client(
    const client_options& options, const ip_address& peer, std::span<const std::string_view> lines
)
{
    return is_trusted(options, peer) ? find_vouched(options, peer, lines) : found_client{peer};
}

ip_address vouched_address(
    const client_options& options, const ip_address& peer, std::span<const std::string_view> lines
)
{
    return find_vouched(options, peer, lines).address;
}

}  // namespace gateway::identity
