#include "gateway/base/suggest.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <vector>

namespace gateway::base {
namespace {

// Most bytes of a word that is compared. A longer one is no misspelling of a known word, and the
// comparison is quadratic.
constexpr std::size_t longest_word = 64;
constexpr std::size_t most_listed = 24;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> cost((a.size() + 1) * width);
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            std::size_t& here = cost[i * width + j];
            if (i == 0 || j == 0) {
                here = i + j;
                continue;
            }
            const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
            here = std::min(
                {cost[(i - 1) * width + j] + 1,
                 cost[i * width + j - 1] + 1,
                 cost[(i - 1) * width + j - 1] + replaced}
            );
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                here = std::min(here, cost[(i - 2) * width + j - 2] + 1);
            }
        }
    }
    return cost.back();
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known)
{
    if (word.size() > longest_word) {
        return {};
    }
    const std::string lower = lower_case(word);
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        if (candidate.size() > longest_word) {
            continue;
        }
        const std::string other = lower_case(candidate);
        const bool shortened = lower.size() >= 3 && other.starts_with(lower);
        const std::size_t shorter = std::min(lower.size(), other.size());
        const std::size_t longer = std::max(lower.size(), other.size());
        if (!shortened && longer - shorter >= best_distance) {
            // The distance is at least the difference in length.
            continue;
        }
        const std::size_t distance = shortened ? 1 : edit_distance(lower, other);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known)
{
    if (known.empty()) {
        return {};
    }
    if (const std::string_view near = nearest(word, known); !near.empty()) {
        return ", did you mean \"" + std::string{near} + "\"?";
    }
    std::string text = "; known here: ";
    for (std::size_t i = 0; i < std::min(known.size(), most_listed); ++i) {
        text += (i == 0 ? "" : ", ") + std::string{known[i]};
    }
    return text + (known.size() > most_listed ? ", ..." : "");
}

}  // namespace gateway::base
