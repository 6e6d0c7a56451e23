#include "config/keys/keys.hpp"

#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {

std::string text_of(const scalar& s, std::uint64_t number)
{
    switch (s.is) {
        case scalar::kind::flag:
            return yaml(number != 0);
        case scalar::kind::time:
            return format_duration(duration_of(number));
        case scalar::kind::bytes:
            return format_size(number);
        case scalar::kind::word:
            return std::string{s.names[number]};
        case scalar::kind::whole:
            break;
    }
    return std::to_string(number);
}

std::string schema_of(range within)
{
    return R"({"type":"integer","minimum":)" + std::to_string(within.min) + R"(,"maximum":)" +
           std::to_string(within.max) + '}';
}

void described_key::flag(bool& value) const
{
    value = take({.is = scalar::kind::flag, .value = value ? 1U : 0U}) != 0;
}

void described_key::time(base::duration& value, times within) const
{
    const auto count = [](base::duration d) { return static_cast<std::uint64_t>(d.count()); };
    const range counts{count(within.min), count(within.max)};
    value = duration_of(take_amount(scalar::kind::time, count(value), counts));
}

void described_key::text(const text_form& f) const
{
    const auto read = [&f, name = key_.name](section& from) { from.take_text(name, f.take); };
    other({.documented = f.documented, .schema = f.schema, .read = read, .print = f.print});
}

void described_key::text(
    std::string& value, stated documented, text_check check, std::string_view schema
) const
{
    text(
        {.documented = documented,
         .schema = std::string{schema},
         .take =
             [&value, check](const std::string& text) {
                 std::string complaint = check(text);
                 value = complaint.empty() ? text : value;
                 return complaint;
             },
         .print = [&value] { return yaml_or_nothing(value); }}
    );
}

void described_key::text(
    std::string& value, stated documented, text_taker put, std::string_view schema
) const
{
    text(
        {.documented = documented,
         .schema = std::string{schema},
         .take = [&value, put](const std::string& text) { return put(text, value); },
         .print = [&value] { return yaml_or_nothing(value); }}
    );
}

void described_key::texts(const list_form& f) const
{
    const auto read = [&f, name = key_.name](section& from) {
        from.each_item(name, f.max, f.if_empty, [&](const located& item) {
            const std::string* const text = scalar_text(item, f.expected, from.found());
            const std::string complaint = text == nullptr ? "" : f.take(*text);
            if (!complaint.empty()) {
                from.found().problem(item, complaint);
            }
        });
    };
    other({.documented = f.documented, .schema = f.schema, .read = read, .print = f.print});
}

void described_key::reference(
    std::size_t& index,
    stated documented,
    std::string_view what,
    const std::vector<std::string>& names
) const
{
    const auto read = [&, name = key_.name](section& from) {
        index = from.reference(name, what, names).value_or(index);
    };
    const auto print = [&] { return index < names.size() ? yaml(names[index]) : ""; };
    other({.documented = documented, .read = read, .print = print});
}

void described_key::references(
    std::vector<std::size_t>& indices,
    std::size_t max,
    std::string_view what,
    const std::vector<std::string>& names
) const
{
    const auto read = [&, name = key_.name](section& from) {
        from.each_item(name, max, {}, [&](const located& item) {
            const auto index = resolve(item, what, names, from.found());
            if (index && std::find(indices.begin(), indices.end(), *index) != indices.end()) {
                from.found().problem(item, "this " + std::string{what} + " is listed already");
            } else if (index) {
                indices.push_back(*index);
            }
        });
    };
    const std::string most = std::to_string(max);
    const std::string range = "at most " + most;
    other(
        {.documented = {"`[]`", range},
         .schema = R"({"type":"array","items":{"type":"string"},"maxItems":)" + most + '}',
         .read = read,
         .print = [&] { return yaml_list(indices, [&](std::size_t i) { return names[i]; }); }}
    );
}

}  // namespace gateway::config
