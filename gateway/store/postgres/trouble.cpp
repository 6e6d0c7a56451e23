#include "gateway/store/postgres/trouble.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::store::postgres {

namespace {

struct known_code {
    // Of a code, or of its beginning, which tells a class of them (PostgreSQL, appendix A).
    std::string_view code;
    trouble means;
};

// The first that fits.
const std::array known_codes{
    known_code{"40001", {.why = failure::loading, .try_again = true}},
    known_code{"40P01", {.why = failure::loading, .try_again = true}},
    known_code{"55P03", {.why = failure::timeout}},  // a lock that somebody holds
    known_code{"57014", {.why = failure::timeout}},  // cancelled
    known_code{"57P03", {.why = failure::loading}},  // starting up, or shutting down
    known_code{"57P", {.why = failure::unreachable, .reconnect = true}},
    known_code{"53300", {.why = failure::unreachable, .reconnect = true}},
    known_code{"53", {.why = failure::readonly}},  // disk full, out of memory
    known_code{"25006", {.why = failure::readonly, .reconnect = true}},
    known_code{"42P01", {.why = failure::config, .no_schema = true}},
    known_code{"3F000", {.why = failure::config, .no_schema = true}},
    known_code{"42883", {.why = failure::config, .no_schema = true}},
    known_code{"42501", {.why = failure::auth}},
    known_code{"28", {.why = failure::auth}},
    known_code{"22", {.why = failure::corrupt}},
    known_code{"08", {.why = failure::unreachable, .reconnect = true}},
    known_code{"58", {.why = failure::readonly}},  // the server's own input and output
    known_code{"XX", {.why = failure::readonly}},
};

constexpr std::size_t code_size = 5;
constexpr std::size_t most_words = 160;

}  // namespace

trouble trouble_of(std::string_view code, std::string_view words)
{
    const auto fits = [code](const known_code& k) { return code.starts_with(k.code); };
    const auto found = std::find_if(known_codes.begin(), known_codes.end(), fits);
    trouble t = found == known_codes.end() ? trouble{.why = failure::config} : found->means;
    t.words = base::trimmed(words.substr(0, words.find('\n'))).substr(0, most_words);
    return t;
}

trouble trouble_in(std::string_view message)
{
    constexpr std::string_view fatal = "FATAL:  ";
    const std::size_t at = message.rfind(fatal);
    if (at != std::string_view::npos && message.size() > at + fatal.size() + code_size) {
        const std::string_view said = message.substr(at + fatal.size());
        if (said.substr(code_size, 2) == ": ") {
            return trouble_of(said.substr(0, code_size), said.substr(code_size + 2));
        }
    }
    if (message.find("read-only") != std::string_view::npos ||
        message.find("hot standby") != std::string_view::npos) {
        return trouble_of("25006", message);
    }
    const bool refused_us = message.find("password") != std::string_view::npos ||
                            message.find("authentication") != std::string_view::npos;
    const bool is_tls = message.find("SSL") != std::string_view::npos ||
                        message.find("certificate") != std::string_view::npos;
    return trouble_of(refused_us ? "28000" : is_tls ? "42000" : "08000", message);
}

}  // namespace gateway::store::postgres
