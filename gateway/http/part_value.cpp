#include "gateway/http/part_value.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/credentials.hpp"
#include "gateway/http/parameter.hpp"

#include <algorithm>
#include <array>

namespace gateway::http {

namespace {

// These buffers keep their memory. A thread reads one request at a time.
thread_local std::string decoded_name;
thread_local std::string decoded_value;

// Bytes that servers may strip from values as blanks, in ASCII, Latin-1 and UTF-8 (Unicode's
// White_Space, the zero-width space and the byte order mark).
constexpr std::array<std::string_view, 27> lenient_blanks{
    " ",
    "\t",
    "\x85",
    "\xa0",
    "\xc2\x85",
    "\xc2\xa0",
    "\xe1\x9a\x80",
    "\xe2\x80\x80",
    "\xe2\x80\x81",
    "\xe2\x80\x82",
    "\xe2\x80\x83",
    "\xe2\x80\x84",
    "\xe2\x80\x85",
    "\xe2\x80\x86",
    "\xe2\x80\x87",
    "\xe2\x80\x88",
    "\xe2\x80\x89",
    "\xe2\x80\x8a",
    "\xe2\x80\x8b",
    "\xe2\x80\xa8",
    "\xe2\x80\xa9",
    "\xe2\x80\xaf",
    "\xe2\x81\x9f",
    "\xe3\x80\x80",
    "\xef\xbb\xbf",
    "\xe1\xa0\x8e",
    "\xe2\x81\xa0"};

std::size_t blank_in_front(std::string_view value)
{
    const auto at =
        std::find_if(lenient_blanks.begin(), lenient_blanks.end(), [value](std::string_view blank) {
            return value.starts_with(blank);
        });
    return at == lenient_blanks.end() ? 0 : at->size();
}

// Returns the size of the blank at the end, or 0. The longest are tried first, because a blank in
// UTF-8 may end in one of Latin-1.
std::size_t blank_at_the_end(std::string_view value)
{
    const auto at = std::find_if(
        lenient_blanks.rbegin(),
        lenient_blanks.rend(),
        [value](std::string_view blank) { return value.ends_with(blank); }
    );
    return at == lenient_blanks.rend() ? 0 : at->size();
}

std::string_view trimmed_for_all(std::string_view value)
{
    while (const std::size_t size = blank_in_front(value)) {
        value.remove_prefix(size);
    }
    while (const std::size_t size = blank_at_the_end(value)) {
        value.remove_suffix(size);
    }
    return value;
}

// The rules by which the pairs of one source are written.
struct pair_rules {
    char separator;
    std::string_view also_separate;  // Characters that separate for some servers.
    std::string_view end_names;      // The same characters, and '='.
    bool encoded_names;              // True if all servers decode names; else some do.
    bool (*decode_value)(std::string_view text, std::string& out);  // Returns false if ambiguous.
};

bool has_any_of(std::string_view text, std::string_view characters)
{
    return std::any_of(characters.begin(), characters.end(), [text](char c) {
        return text.find(c) != std::string_view::npos;
    });
}

// Decodes the value of a cookie, without one pair of quotes around it. Returns false if it has a
// byte that no cookie value may have (RFC 6265 §4.1.1), a '&', which makes a list of it to some
// servers, or a malformed encoding.
bool decode_cookie_value(std::string_view text, std::string& out)
{
    text = base::without_quotes(text);
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != ',' && c != '&';
    });
    const bool good = decode_parameter(text, out) && plain;
    if (base::without_quotes(out).size() < out.size()) {  // Some servers decode first.
        out.pop_back();
        out.erase(0, 1);
    }
    return good;
}

bool decode_query_value(std::string_view text, std::string& out)
{
    return decode_parameter(text, out) && text.find(';') == std::string_view::npos;
}

constexpr pair_rules of_cookies{';', ", \t", "=, \t", false, decode_cookie_value};
constexpr pair_rules of_queries{'&', ";", "=;", true, decode_query_value};

enum class spelling { of_another, exact, of_the_key_to_some };

spelling read_name(std::string_view name, std::string_view key, bool encoded)
{
    if (name == key) {
        return spelling::exact;
    }
    if (has_any_of(name, "%+")) {
        if (decode_parameter(name, decoded_name) && encoded && decoded_name == key) {
            return spelling::exact;
        }
        name = decoded_name;
    }
    return may_be_read_as(name, key) ? spelling::of_the_key_to_some : spelling::of_another;
}

// True if servers that know other separators could find the key within this pair.
bool hides(std::string_view pair, std::string_view key, const pair_rules& rules)
{
    if (!has_any_of(pair, rules.also_separate)) {
        return false;
    }
    std::size_t end = 0;
    while ((end = pair.find_first_of(rules.also_separate, end)) != std::string_view::npos) {
        const std::size_t begin =
            std::min(pair.find_first_not_of(rules.also_separate, end), pair.size());
        end = std::min(pair.find_first_of(rules.end_names, begin), pair.size());
        if (base::trimmed(pair.substr(end)).starts_with('=') &&
            read_name(pair.substr(begin, end - begin), key, false) != spelling::of_another) {
            return true;
        }
    }
    return false;
}

void read_value(std::string_view text, const pair_rules& rules, part_value& out)
{
    if (!rules.decode_value(base::trimmed(text), decoded_value)) {
        out.make_ambiguous();
    }
    out.add(trimmed_for_all(decoded_value));
}

void read_pair(
    std::string_view pair, std::string_view key, const pair_rules& rules, part_value& out
)
{
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    switch (read_name(base::trimmed(pair.substr(0, equals)), key, rules.encoded_names)) {
        case spelling::exact:
            read_value(value, rules, out);
            break;
        case spelling::of_the_key_to_some:
            out.make_ambiguous();
            break;
        case spelling::of_another:
            if (hides(pair, key, rules)) {
                out.make_ambiguous();
            }
            break;
    }
}

void read_pairs(
    std::string_view list, std::string_view key, const pair_rules& rules, part_value& out
)
{
    base::for_each_element(list, rules.separator, [&](std::string_view pair) {
        read_pair(pair, key, rules, out);
    });
}

// Calls `use` for each line that all servers read as that header. Other lines that some servers
// read as it make the value ambiguous.
template <typename Use>
void for_each_line(const request_head& head, std::string_view name, part_value& out, Use use)
{
    for (const field& f : head.fields) {
        if (!reads_as(f.name, name)) {
            continue;
        }
        if (!base::equal_ignoring_case(f.name, name) || f.nominated) {
            out.make_ambiguous();
        } else {
            use(f.value);
        }
    }
}

}  // namespace

void part_value::clear()
{
    text_.clear();
    present_ = false;
    occurred_ = false;
    ambiguous_ = false;
}

void part_value::add(std::string_view occurrence)
{
    ambiguous_ = ambiguous_ || (occurred_ && occurrence != text_);
    occurred_ = true;
    text_ = occurrence;
    present_ = !occurrence.empty();
}

void read_header(const request_head& head, std::string_view name, part_value& out)
{
    for_each_line(head, name, out, [name, &out](std::string_view line) {
        read_header_line(name, line, out);
    });
}

void read_header_line(std::string_view name, std::string_view line, part_value& out)
{
    if (!base::equal_ignoring_case(name, "authorization")) {
        out.add(trimmed_for_all(line));
        return;
    }
    if (!read_credentials(line, decoded_value)) {
        out.make_ambiguous();
    }
    out.add(decoded_value);
}

void read_plain_header(const request_head& head, std::string_view name, part_value& out)
{
    for_each_line(head, name, out, [&out](std::string_view line) {
        out.add(trimmed_for_all(line));
    });
}

void read_cookie(const request_head& head, std::string_view name, part_value& out)
{
    bool nominated = false;
    for (const field& f : head.fields) {
        if (f.id == field_name::cookie) {
            read_pairs(f.value, name, of_cookies, out);
            nominated = f.nominated;
        }
    }
    if (out.present() && nominated) {
        out.make_ambiguous();
    }
}

void read_cookie_value(std::string_view text, part_value& out)
{
    read_value(text, of_cookies, out);
}

void read_query_value(std::string_view text, part_value& out)
{
    read_value(text, of_queries, out);
}

void read_query(std::string_view query, std::string_view name, part_value& out)
{
    if (query.starts_with('?')) {
        query.remove_prefix(1);
    }
    read_pairs(query, name, of_queries, out);
}

}  // namespace gateway::http
