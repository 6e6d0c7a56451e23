// Input: a byte that chooses the options, then header lines separated by '\n'.
#include "gateway/identity/client_address.hpp"

#include "tests/fuzz/require.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace gateway;
using fuzz::require;

identity::client_options options_of(unsigned choice)
{
    static const base::ip_prefix_set proxies{
        {*base::ip_prefix::parse("10.0.0.0/8"), *base::ip_prefix::parse("2001:db8::/32")}};
    constexpr std::array<const char*, 3> headers{"X-Forwarded-For", "Forwarded", "X-Real-IP"};
    identity::client_options options;
    options.header = headers[choice % headers.size()];
    options.trusted_hops = static_cast<int>(choice / 3 % 4);
    if (options.trusted_hops == 0 || choice >= 128) {
        options.trusted_proxies = proxies;
    }
    return options;
}

std::vector<std::string_view> split_lines(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const auto options = options_of(data[0]);
    const std::string text(data + 1, data + size);
    const auto lines = split_lines(text);
    const auto peer = base::ip_address::v4(0x0a000001);
    const auto stranger = base::ip_address::v4(0xc0000201);
    const auto client = identity::client_address(options, peer, lines);

    require(client == peer || (client != base::ip_address{} && client != base::ip_address::v4(0)));
    require(base::ip_address::parse(client.to_string()) == client);
    if (!options.trusted_proxies.empty()) {
        require(identity::client_address(options, stranger, lines) == stranger);
    }
    if (options.header == "X-Real-IP") {
        return 0;
    }

    // A proxy that appends the address it saw, on a line of its own or at the end of the last one,
    // cannot be talked out of it by anything that stands before.
    const bool is_forwarded = options.header == "Forwarded";
    const std::string appended =
        is_forwarded ? "for=\"198.51.100.9:80\";host=\"a,\\\"b\"" : "198.51.100.9:80";
    const auto seen = *base::ip_address::parse("198.51.100.9");
    auto walking = options;
    walking.trusted_proxies = base::ip_prefix_set{{*base::ip_prefix::parse("10.0.0.0/8")}};
    walking.trusted_hops = options.trusted_hops > 0 ? 1 : 0;
    auto more = lines;
    more.push_back(appended);
    require(identity::client_address(walking, peer, more) == seen);
    const std::string joined =
        (lines.empty() ? std::string{} : std::string{lines.back()}) + ", " + appended;
    more.assign(lines.begin(), lines.empty() ? lines.end() : lines.end() - 1);
    more.push_back(joined);
    require(identity::client_address(walking, peer, more) == seen);
    return 0;
}
