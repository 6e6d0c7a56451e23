#include "config/printing.hpp"

#include "config/text/units.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {

void printing::line(std::string_view name, std::string_view value)
{
    const bool secret = hides(joined(at_.path, name));
    out_.append(indent()).append(name).append(": ").append(secret ? "\"***\"" : value).append("\n");
}

// True if the value of the key, or a part of it, is secret.
bool printing::hides(const std::string& path) const
{
    return std::any_of(
        at_.secret_paths.begin(),
        at_.secret_paths.end(),
        [&path](std::string_view secret) {
            return secret.starts_with(path) &&
                   (secret.size() == path.size() || secret[path.size()] == '.' ||
                    secret[path.size()] == '[');
        }
    );
}

printing::position printing::below(std::string path, std::size_t levels) const
{
    return {.secret_paths = at_.secret_paths, .depth = at_.depth + levels, .path = std::move(path)};
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
    printing lines{inner, below(joined(at_.path, k.name))};
    describe(lines);
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
    const std::string path = joined(at_.path, k.name);
    printing lines{out_, below(path)};
    if (c.describe_first) {
        lines.mapping(c.first, c.describe_first, true);
    }
    for (std::size_t i = 0; i < size; ++i) {
        const auto describe = [&c, i](keys& one) { c.describe(i, one); };
        if (c.named) {
            lines.mapping({c.name(i), {}}, describe, true);
            continue;
        }
        const std::size_t begin = out_.size();
        printing element{out_, below(path + '[' + std::to_string(i) + ']', 2)};
        describe(element);
        out_[begin + 2 * (at_.depth + 1)] = '-';
    }
}

}  // namespace gateway::config
