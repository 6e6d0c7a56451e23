#include "config/printing.hpp"

#include "config/units.hpp"
#include "config/yaml_text.hpp"

namespace gateway::config {

void printing::line(std::string_view name, std::string_view value)
{
    out_.append(indent()).append(name).append(": ").append(value).append("\n");
}

void printing::flag(const key& k, bool& value)
{
    line(k.name, yaml(value));
}

void printing::time(const key& k, base::duration& value, base::duration, base::duration)
{
    line(k.name, format_duration(value));
}

std::uint64_t printing::whole(const key& k, std::uint64_t value, std::uint64_t, std::uint64_t)
{
    line(k.name, std::to_string(value));
    return value;
}

std::uint64_t printing::bytes(const key& k, std::uint64_t value, std::uint64_t, std::uint64_t)
{
    line(k.name, format_size(value));
    return value;
}

std::size_t printing::choice(
    const key& k, std::size_t value, std::span<const std::string_view> names
)
{
    line(k.name, names[value]);
    return value;
}

void printing::other(const key& k, const form& f)
{
    if (const auto text = f.print()) {
        line(k.name, *text);
    }
}

void printing::mapping(const key& k, const std::function<void(keys&)>& describe, bool is_set)
{
    if (!is_set) {
        return;
    }
    std::string inner;
    printing below{inner, depth_ + 1};
    describe(below);
    if (inner.empty()) {
        line(k.name, "{}");
    } else {
        out_.append(indent()).append(yaml(k.name)).append(":\n").append(inner);
    }
}

void printing::each(const key& k, const collection& c)
{
    const std::size_t size = c.size();
    if (size == 0 && !c.describe_first) {
        line(k.name, c.named ? "{}" : "[]");
        return;
    }
    out_.append(indent()).append(k.name).append(":\n");
    printing below{out_, depth_ + 1};
    if (c.describe_first) {
        below.mapping(c.first, c.describe_first, true);
    }
    for (std::size_t i = 0; i < size; ++i) {
        const auto describe = [&c, i](keys& one) { c.describe(i, one); };
        if (c.named) {
            below.mapping({c.name(i), {}}, describe, true);
            continue;
        }
        const std::size_t begin = out_.size();
        printing element{out_, depth_ + 2};
        describe(element);
        out_[begin + 2 * (depth_ + 1)] = '-';
    }
}

}  // namespace gateway::config
