// Any bytes as a configuration: either problems, or settings that print and load again.
#include "config/load.hpp"
#include "config/print.hpp"
#include "config/text/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace {

std::optional<gateway::config::settings> loaded(std::string_view text)
{
    try {
        return gateway::config::load_text(text, "fuzz");
    } catch (const gateway::config::config_error& e) {
        if (e.problems().empty()) {
            std::abort();
        }
        return std::nullopt;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto first = loaded({reinterpret_cast<const char*>(data), size});
    if (!first) {
        return 0;
    }
    const std::string printed = gateway::config::print(*first);
    const auto second = loaded(printed);
    if (!second || gateway::config::print(*second) != printed) {
        std::abort();
    }
    return 0;
}
