#include "config/text/reader.hpp"

#include "config/text/foreign_keys.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/unit_hints.hpp"
#include "config/text/units.hpp"
#include "config/text/yaml_hint.hpp"
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

// Returns the message about a value that is out of bounds, or nothing if it is within them.
template <class Value, class Format>
std::optional<std::string> out_of_range(
    const Value& value, const std::pair<Value, Value>& bounds, Format format
)
{
    if (value < bounds.first) {
        return "too small, the minimum is " + format(bounds.first);
    }
    if (value > bounds.second) {
        return "too large, the maximum is " + format(bounds.second);
    }
    return std::nullopt;
}

// Returns the text of a value that must stand in the file itself, or null after a complaint.
const std::string* plain_text(const located& value, std::string_view expected, findings& found)
{
    if (value.value->is == node::kind::scalar) {
        if (value.value->text.find("${") == std::string::npos) {
            return &value.value->text;
        }
        found.problem(value.value->at, value.path, std::string{not_expanded});
        return nullptr;
    }
    found.problem(
        value.value->at,
        value.path,
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
        found.problem(value.value->at, value.path, given.complaint);
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
        found.problem(
            value.at, mapping.path, "expected a mapping, got " + std::string{name_of(value.is)}
        );
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

std::optional<located> section::list(std::string_view key)
{
    const node* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (value->is != node::kind::list) {
        problem(key, "expected a list, got " + std::string{name_of(value->is)});
        return std::nullopt;
    }
    return located{value, path_of(key)};
}

const std::string* section::text(std::string_view key, lines may_have)
{
    const node* value = find(key);
    return value == nullptr ? nullptr
                            : scalar_text({value, path_of(key)}, "text", found_, may_have);
}

std::optional<bool> section::flag(std::string_view key)
{
    const node* value = find(key);
    const std::string* written =
        value == nullptr ? nullptr : plain_text({value, path_of(key)}, "true or false", found_);
    if (written == nullptr) {
        return std::nullopt;
    }
    if (!value->plain || (*written != "true" && *written != "false")) {
        problem(key, expected("true or false, unquoted", *written));
        return std::nullopt;
    }
    return *written == "true";
}

std::optional<base::duration> section::time(
    std::string_view key, base::duration min, base::duration max
)
{
    const node* value = find(key);
    const std::string* written =
        value == nullptr ? nullptr : plain_text({value, path_of(key)}, a_duration, found_);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto parsed = parse_duration(*written);
    if (!parsed) {
        problem(key, expected(a_duration, *written) + duration_hint(*written));
        return std::nullopt;
    }
    if (const auto wrong = out_of_range(*parsed, {min, max}, format_duration)) {
        problem(key, *wrong);
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::uint64_t> section::number(
    std::string_view key, std::uint64_t min, std::uint64_t max
)
{
    const node* value = find(key);
    const std::string* written =
        value == nullptr ? nullptr : plain_text({value, path_of(key)}, a_number, found_);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto parsed = parse_number(*written);
    if (!parsed) {
        problem(key, expected(a_number, *written));
        return std::nullopt;
    }
    if (!value->plain) {
        problem(key, "expected a whole number, got text: remove the quotes");
        return std::nullopt;
    }
    const auto format = [](std::uint64_t n) { return std::to_string(n); };
    if (const auto wrong = out_of_range(*parsed, {min, max}, format)) {
        problem(key, *wrong);
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::uint64_t> section::size(
    std::string_view key, std::uint64_t min, std::uint64_t max
)
{
    const node* value = find(key);
    const std::string* written =
        value == nullptr ? nullptr : plain_text({value, path_of(key)}, a_size, found_);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto parsed = parse_size(*written);
    if (!parsed) {
        problem(key, expected(a_size, *written) + size_hint(*written));
        return std::nullopt;
    }
    if (const auto wrong = out_of_range(*parsed, {min, max}, format_size)) {
        problem(key, *wrong);
        return std::nullopt;
    }
    return parsed;
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
    const node* value = find(key);
    const std::string* written =
        value == nullptr ? nullptr : plain_text({value, path_of(key)}, expected_words, found_);
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

located item_of(const located& list, std::size_t index)
{
    return {&list.value->items[index], list.path + '[' + std::to_string(index) + ']'};
}

std::string joined(const std::string& path, std::string_view key)
{
    return (path.empty() ? "" : path + '.') + (is_name(key) ? std::string{key} : quote(key));
}

std::vector<std::pair<std::string, located>> named_entries(
    const located& mapping, std::size_t max, findings& found
)
{
    section unique{mapping, found};
    std::vector<std::pair<std::string, located>> named;
    for (const entry& e : mapping.value->entries) {
        const std::string& name = e.key.text;
        const std::string path = joined(mapping.path, name);
        if (!is_name(name)) {
            found.problem(e.key.at, path, "a name is 1 to 64 of A-Z a-z 0-9 _ . -");
        } else if (named.size() == max) {
            found.problem(e.key.at, path, "too many, the maximum is " + std::to_string(max));
            break;
        } else if (unique.is_first(e)) {
            named.emplace_back(name, located{&e.value, path});
        }
    }
    return named;
}

}  // namespace gateway::config
