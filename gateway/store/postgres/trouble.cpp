#include "gateway/store/postgres/trouble.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gateway::store::postgres {

namespace {

struct known_code {
    // A code, or the beginning of one, which stands for a class of them (PostgreSQL, appendix A).
    std::string_view code;
    trouble means;
};

// The first entry that fits counts.
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
    // These three mean a prepared statement that is unknown, or known already. pgbouncer from 1.21
    // on sends the last one.
    known_code{"26000", {.why = failure::unreachable, .reconnect = true, .is_pooled = true}},
    known_code{"42P05", {.why = failure::unreachable, .reconnect = true, .is_pooled = true}},
    known_code{"08P01", {.why = failure::unreachable, .reconnect = true, .is_pooled = true}},
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

constexpr std::string_view lost = "08006";

// Words of libpq and OpenSSL about a connection that ended while it was being made.
constexpr std::array<std::string_view, 4> losses{
    "SSL SYSCALL error", "SSL connection has been closed", "unexpected eof", "reset by peer"};

template <std::size_t Size>
bool contains_any(std::string_view text, const std::array<std::string_view, Size>& words)
{
    return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
        return text.find(word) != text.npos;
    });
}

bool is_code(std::string_view text)
{
    return text.size() == code_size && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
           });
}

// Returns the meaning of the server's last error in a message: "SEVERITY:  28P01: words", in which
// the severity is in the server's language.
std::optional<trouble> reported_by_server(std::string_view message)
{
    constexpr std::string_view before = ":  ";
    constexpr std::string_view behind = ": ";
    for (std::size_t at = message.rfind(before); at != message.npos && at > 0;
         at = message.rfind(before, at - 1)) {
        const std::string_view error = message.substr(at + before.size());
        const std::string_view code = error.substr(0, code_size);
        if (is_code(code) && error.substr(code_size, behind.size()) == behind) {
            return trouble_of(code, error.substr(code_size + behind.size()));
        }
    }
    return std::nullopt;
}

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
    if (const auto reported = reported_by_server(message)) {
        return *reported;
    }
    if (contains_any(message, losses)) {
        return trouble_of(lost, message);
    }
    if (message.find("read-only") != std::string_view::npos ||
        message.find("hot standby") != std::string_view::npos) {
        return trouble_of("25006", message);
    }
    const bool refused_us = message.find("password") != std::string_view::npos ||
                            message.find("authentication") != std::string_view::npos;
    const bool is_tls = message.find("SSL") != std::string_view::npos ||
                        message.find("certificate") != std::string_view::npos;
    return trouble_of(refused_us ? "28000" : is_tls ? "42000" : lost, message);
}

trouble trouble_of_loss(std::string_view message)
{
    const auto reported = reported_by_server(message);
    return reported ? *reported : trouble_of(lost, message);
}

}  // namespace gateway::store::postgres
