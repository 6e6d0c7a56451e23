#include "gateway/http/credentials.hpp"

#include "gateway/base/base64.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view blanks = " \t";

bool is_ascii_text(char c)
{
    return is_blank(c) || (c > ' ' && c < 0x7f);
}

std::string_view without_padding(std::string_view text)
{
    return text.substr(0, text.find_last_not_of('=') + 1);
}

// True if the token looks like a JSON Web Token: parts in base64url with dots between them, the
// first of which is a JSON object and so begins with {" (RFC 7519).
bool is_web_token(std::string_view token)
{
    return token.starts_with("eyJ") && std::count(token.begin(), token.end(), '.') >= 2;
}

bool is_canonical_web_token(std::string_view token)
{
    bool canonical = true;
    base::for_each_element(token, '.', [&](std::string_view part) {
        canonical = canonical && base::is_canonical_base64url(part);
    });
    return canonical;
}

// Returns the token itself, or an empty text if there is not exactly one, or it is not canonical.
std::string_view only_token(std::string_view text)
{
    constexpr std::string_view as_parameter = "token=";
    if (text.starts_with(as_parameter)) {
        text.remove_prefix(as_parameter.size());
    }
    text = without_padding(base::without_quotes(text));
    const bool is_one = text.find_first_of(" \t,;=\"\\") == npos;
    return is_one && (!is_web_token(text) || is_canonical_web_token(text)) ? text
                                                                           : std::string_view{};
}

// True if the text is one word, or a list of parameters, whose first word has a '=' or ','.
bool is_word_or_parameters(std::string_view text)
{
    const std::size_t end = text.find_first_of(blanks);
    return end == npos || without_padding(text.substr(0, end)).find_first_of("=,") != npos;
}

void append_with_single_blanks(std::string_view text, std::string& out)
{
    for (const char c : text) {
        if (!is_blank(c)) {
            out += c;
        } else if (out.back() != ' ') {
            out += ' ';
        }
    }
}

}  // namespace

bool read_credentials(std::string_view value, std::string& out)
{
    out.clear();
    if (!std::all_of(value.begin(), value.end(), is_ascii_text)) {
        return false;
    }
    const std::size_t scheme = std::min(value.find_first_of(blanks), value.size());
    std::transform(
        value.begin(),
        value.begin() + static_cast<std::ptrdiff_t>(scheme),
        std::back_inserter(out),
        base::to_lower
    );
    std::string_view rest = base::trimmed(value.substr(scheme));
    if (rest.empty()) {
        return true;
    }
    bool good = false;
    if (out == "basic") {
        good = base::is_canonical_base64(rest);
    } else if (out == "bearer" || out == "token") {
        out = "bearer";
        rest = only_token(rest);
        good = !rest.empty();
    } else {
        good = is_word_or_parameters(rest);
    }
    out += ' ';
    append_with_single_blanks(rest, out);
    return good;
}

}  // namespace gateway::http
