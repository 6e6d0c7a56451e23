#include "config/text/reader.hpp"

#include "config/text/hints.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "gateway/base/suggest.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::string_view a_number = "a whole number (decimal, without leading zeros)";
constexpr std::string_view a_duration = "a duration such as 250ms, 2s, 5m, 1h or 1d";
constexpr std::string_view a_size = "a size such as 16KiB, 1MiB or plain bytes";

std::string expected(std::string_view what, const std::string& text)
{
    return "expected " + std::string{what} + ", got " + quote(text);
}

// Returns the text of a value that must stand in the file itself, or null after a complaint.
const std::string* plain_text(const located& value, std::string_view expected, findings& found)
{
    if (value.value->is == node::kind::scalar) {
        if (value.value->text.find("${") == std::string::npos) {
            return &value.value->text;
        }
        found.problem(value, std::string{not_expanded});
        return nullptr;
    }
    found.problem(
        value,
        "expected " + std::string{expected} + ", got " + std::string{name_of(value.value->is)}
    );
    return nullptr;
}

// Returns the text that `{ env: NAME }` or `{ file: PATH }` stands for, or null after a complaint.
const std::string* secret_text(const located& value, lines may_have, findings& found)
{
    const entry& where = value.value->entries.front();
    const bool in_file = where.key.text == "file";
    const std::string* const name = plain_text(
        {&where.value, value.path},
        in_file ? "the path of a file" : "the name of an environment variable",
        found
    );
    if (name == nullptr) {
        return nullptr;
    }
    secrets& all = found.secrets();
    const secrets::given given =
        in_file ? all.of_file(*name, may_have) : all.of_variable(*name, may_have);
    if (given.text == nullptr) {
        found.problem(value, given.complaint);
    } else {
        all.note(value.path);
    }
    return given.text;
}

}  // namespace

section::section(const located& mapping, findings& found) : mapping_(mapping), found_(found)
{
    const node& value = *mapping.value;
    if (value.is != node::kind::mapping) {
        found.problem(mapping, "expected a mapping, got " + std::string{name_of(value.is)});
        return;
    }
    for (const entry& e : value.entries) {
        const auto [first, is_new] = entries_.emplace(e.key.text, &e);
        if (!is_new) {
            found.problem(
                e.key.at,
                path_of(e.key.text),
                "duplicate key, first on " + found.where(first->second->key.at, e.key.at)
            );
        }
    }
}

const node* section::find(std::string_view key)
{
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        known_.push_back(key);
    }
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second->value;
}

const node* section::require(std::string_view key)
{
    const node* value = find(key);
    if (value == nullptr && mapping_.value->is == node::kind::mapping) {
        found_.problem(at(), path_of(key), "missing: this key has no default");
    }
    return value;
}

section section::inside(std::string_view key)
{
    return {value(key), found_};
}

std::optional<located> section::list(std::string_view key)
{
    const located all = value(key);
    if (all.value == nullptr) {
        return std::nullopt;
    }
    if (all.value->is != node::kind::list) {
        problem(key, "expected a list, got " + std::string{name_of(all.value->is)});
        return std::nullopt;
    }
    return all;
}

std::vector<std::pair<std::string, located>> section::named(std::string_view key, std::size_t max)
{
    const located all = value(key);
    const section unique{all, found_};
    std::vector<std::pair<std::string, located>> named;
    for (const entry& e : all.value->entries) {
        const std::string& name = e.key.text;
        const origin at{e.key.at, joined(all.path, name)};
        if (!is_name(name)) {
            found_.problem(at, "a name is 1 to 64 of A-Z a-z 0-9 _ . -");
        } else if (named.size() == max) {
            found_.problem(at, "too many, the maximum is " + std::to_string(max));
            break;
        } else if (unique.is_first(e)) {
            named.emplace_back(name, located{&e.value, at.path});
        }
    }
    return named;
}

void section::each_item(
    std::string_view key, std::size_t max, std::string_view if_empty, const use_of_item& use
)
{
    const auto all = list(key);
    if (all && all->value->items.empty() && !if_empty.empty()) {
        problem(key, std::string{if_empty});
    }
    if (all) {
        config::each_item(*all, max, found_, use);
    }
}

void section::each_text(std::string_view key, std::string_view expected, const use_of_text& take)
{
    for (const entry& e : find(key)->entries) {
        const located at{&e.value, joined(path_of(key), e.key.text)};
        const std::string* const text = scalar_text(at, expected, found_);
        const std::string complaint = take(e.key.text, text);
        if (!complaint.empty()) {
            found_.problem(at, complaint);
        }
    }
}

const std::string* section::text(std::string_view key, lines may_have)
{
    const located written = value(key);
    return written.value == nullptr ? nullptr : scalar_text(written, "text", found_, may_have);
}

void section::take_text(
    std::string_view key, const std::function<std::string(const std::string&)>& take
)
{
    const std::string* const written = text(key);
    const std::string complaint = written == nullptr ? "" : take(*written);
    if (!complaint.empty()) {
        problem(key, complaint);
    }
}

std::optional<std::size_t> section::reference(
    std::string_view key, std::string_view what, const std::vector<std::string>& names
)
{
    return has(key) ? resolve(value(key), what, names, found_) : std::nullopt;
}

const std::string* section::plain(std::string_view key, std::string_view expected)
{
    const located written = value(key);
    return written.value == nullptr ? nullptr : plain_text(written, expected, found_);
}

// Returns the value, or complains and returns nothing if it is out of bounds.
template <class Value, class Format>
std::optional<Value> section::bounded(
    std::string_view key, std::optional<Value> parsed, Value min, Value max, Format format
)
{
    if (parsed && *parsed < min) {
        problem(key, "too small, the minimum is " + format(min));
        return std::nullopt;
    }
    if (parsed && *parsed > max) {
        problem(key, "too large, the maximum is " + format(max));
        return std::nullopt;
    }
    return parsed;
}

std::optional<bool> section::flag(std::string_view key)
{
    const std::string* const written = plain(key, "true or false");
    if (written == nullptr) {
        return std::nullopt;
    }
    if (!find(key)->plain || (*written != "true" && *written != "false")) {
        problem(key, expected("true or false, unquoted", *written));
        return std::nullopt;
    }
    return *written == "true";
}

std::optional<base::duration> section::time(
    std::string_view key, base::duration min, base::duration max
)
{
    const std::string* const written = plain(key, a_duration);
    const auto parsed = written == nullptr ? std::nullopt : parse_duration(*written);
    if (written != nullptr && !parsed) {
        problem(key, expected(a_duration, *written) + duration_hint(*written));
    }
    return bounded(key, parsed, min, max, format_duration);
}

std::optional<std::uint64_t> section::number(
    std::string_view key, std::uint64_t min, std::uint64_t max
)
{
    const std::string* const written = plain(key, a_number);
    const auto parsed = written == nullptr ? std::nullopt : parse_number(*written);
    if (written != nullptr && !parsed) {
        problem(key, expected(a_number, *written));
    } else if (parsed && !find(key)->plain) {
        problem(key, "expected a whole number, got text: remove the quotes");
        return std::nullopt;
    }
    return bounded(key, parsed, min, max, [](std::uint64_t n) { return std::to_string(n); });
}

std::optional<std::uint64_t> section::size(
    std::string_view key, std::uint64_t min, std::uint64_t max
)
{
    const std::string* const written = plain(key, a_size);
    const auto parsed = written == nullptr ? std::nullopt : parse_size(*written);
    if (written != nullptr && !parsed) {
        problem(key, expected(a_size, *written) + size_hint(*written));
    }
    return bounded(key, parsed, min, max, format_size);
}

std::optional<std::size_t> section::choice(
    std::string_view key, std::span<const std::string_view> names
)
{
    std::string expected_words;
    for (std::size_t i = 0; i < names.size(); ++i) {
        expected_words += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ");
        expected_words += names[i];
    }
    const std::string* const written = plain(key, expected_words);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto found = std::find(names.begin(), names.end(), *written);
    if (found == names.end()) {
        const std::string_view near = base::nearest(*written, names);
        const std::string hint = near.empty() ? "" : base::suggestion(*written, names);
        problem(key, expected(expected_words, *written) + hint);
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - names.begin());
}

void section::refuse_the_rest()
{
    for (const entry& e : mapping_.value->entries) {
        const std::string& key = e.key.text;
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) {
            continue;
        }
        found_.problem(e.key.at, path_of(key), complaint_about(key));
    }
}

std::string section::complaint_about(std::string_view key)
{
    if (std::string answer = answer_to_foreign_key(key); !answer.empty()) {
        return answer;
    }
    const std::string_view begin = key.substr(0, key.find(':'));
    if (begin != key && std::find(known_.begin(), known_.end(), begin) != known_.end()) {
        return "unknown key: a space is missing after \"" + std::string{begin} + ":\"";
    }
    return "unknown key" + found_.suggestion(key, known_);
}

void section::problem(std::string_view key, std::string message)
{
    found_.problem(place_of(key), path_of(key), std::move(message));
}

void section::warning(std::string_view key, std::string message)
{
    found_.warning(place_of(key), path_of(key), std::move(message));
}

place section::place_of(std::string_view key)
{
    const node* value = find(key);
    return value == nullptr ? at() : value->at;
}

std::string section::path_of(std::string_view key) const
{
    return joined(mapping_.path, key);
}

bool stands_for_text(const node& n)
{
    return n.is == node::kind::mapping && n.entries.size() == 1 &&
           (n.entries[0].key.text == "env" || n.entries[0].key.text == "file");
}

const std::string* scalar_text(
    const located& value, std::string_view expected, findings& found, lines may_have
)
{
    return stands_for_text(*value.value) ? secret_text(value, may_have, found)
                                         : plain_text(value, expected, found);
}

void each_item(const located& list, std::size_t max, findings& found, const use_of_item& use)
{
    const std::vector<node>& items = list.value->items;
    if (items.size() > max) {
        found.problem(
            items[max].at, list.path, "too many elements, the maximum is " + std::to_string(max)
        );
        return;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        use({&items[i], list.path + '[' + std::to_string(i) + ']'});
    }
}

std::optional<std::size_t> resolve(
    const located& name,
    std::string_view what,
    const std::vector<std::string>& names,
    findings& found
)
{
    const std::string kind{what};
    const std::string* const text = scalar_text(
        name, "the name of a" + std::string{kind == "upstream" ? "n " : " "} + kind, found
    );
    const auto same = text == nullptr ? names.end() : std::find(names.begin(), names.end(), *text);
    if (text != nullptr && same == names.end()) {
        const std::vector<std::string_view> known{names.begin(), names.end()};
        found.problem(
            name, "unknown " + kind + ' ' + quote(*text) + found.suggestion(*text, known)
        );
    }
    return same == names.end() ? std::nullopt
                               : std::optional{static_cast<std::size_t>(same - names.begin())};
}

std::string joined(const std::string& path, std::string_view key)
{
    return (path.empty() ? "" : path + '.') + (is_name(key) ? std::string{key} : quote(key));
}

}  // namespace gateway::config
