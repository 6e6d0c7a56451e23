#include "gateway/replay/reports/number_text.hpp"

#include "gateway/base/utc_text.hpp"
#include "gateway/replay/word_list.hpp"

#include <array>
#include <cstdio>

namespace gateway::replay {

std::string grouped(std::uint64_t number)
{
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return digits;
}

std::string percent(double share)
{
    const double value = share * 100;
    std::array<char, 32> text{};
    const int decimals = value == 0 || value >= 10 ? 0 : value >= 1 ? 1 : value >= 0.1 ? 2 : 4;
    std::snprintf(text.data(), text.size(), "%.*f %%", decimals, value);
    return text.data();
}

std::string percent(std::uint64_t part, std::uint64_t all)
{
    return all == 0 ? "0 %" : percent(static_cast<double>(part) / static_cast<double>(all));
}

std::string moment_text(base::duration unix_time)
{
    base::utc_text<19> text{"%Y-%m-%d %H:%M:%S"};
    return std::string{text.at(unix_time)};
}

std::string joined(std::span<const std::string> words)
{
    std::string text;
    for (const std::string& word : words) {
        add_word(text, word);
    }
    return text;
}

std::string span_text(base::duration d)
{
    using namespace std::chrono;
    const std::int64_t s = duration_cast<seconds>(d).count();
    if (s < 120) {
        return std::to_string(s) + " s";
    }
    if (s < 2 * 3600) {
        return std::to_string(s / 60) + " min";
    }
    return s < 2 * 86'400 ? std::to_string(s / 3600) + " h" : std::to_string(s / 86'400) + " d";
}

}  // namespace gateway::replay
