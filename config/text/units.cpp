#include "config/text/units.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration week = 7 * 24h;
constexpr base::duration long_month = 31 * 24h;

}  // namespace

std::optional<rate> parse_rate(std::string_view text)
{
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto tokens = parse_number(text.substr(0, slash));
    const std::string_view per = text.substr(slash + 1);
    const bool bare_unit = per == "s" || per == "m" || per == "h" || per == "d";
    const bool monthly = per == "mo";
    const auto period = monthly ? std::optional<base::duration>{long_month}
                        : per == "w"
                            ? std::optional<base::duration>{week}
                            : parse_duration(std::string(bare_unit ? 1 : 0, '1').append(per));
    if (!tokens || *tokens == 0 || !period || *period == base::duration::zero()) {
        return std::nullopt;
    }
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return rate{static_cast<std::int64_t>(std::min(*tokens, max)), *period, monthly};
}

std::string format_rate(const rate& r)
{
    if (r.monthly) {
        return std::to_string(r.tokens) + "/mo";
    }
    const std::string period = format_duration(r.period);
    const bool one_unit = period.size() == 2 && period.front() == '1';
    return std::to_string(r.tokens) + '/' + (one_unit ? period.substr(1) : period);
}

}  // namespace gateway::config
