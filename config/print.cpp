#include "config/print.hpp"

#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"

namespace gateway::config {
namespace {

// `position` is the place of a mapping in the output.
struct position {
    // Paths of the keys whose values are not shown.
    std::span<const std::string> secret_paths{};
    // Indentation of its lines, in levels of two spaces.
    std::size_t depth = 0;
    // Path of the mapping. Empty: the whole file.
    std::string path{};

    // Returns the position of a value that is this many levels below.
    position below(std::string under, std::size_t levels = 1) const
    {
        return {secret_paths, depth + levels, std::move(under)};
    }

    // True if the value of the key, or a part of it, is secret.
    bool hides(std::string_view key) const
    {
        const std::string whole = joined(path, key);
        return std::any_of(secret_paths.begin(), secret_paths.end(), [&](const auto& secret) {
            return secret.starts_with(whole) &&
                   (secret.size() == whole.size() || secret[whole.size()] == '.' ||
                    secret[whole.size()] == '[');
        });
    }
};

// `printing` appends described settings to a text as YAML.
class printing : public keys {
public:
    printing(std::string& out, position at) : out_(out), at_(std::move(at)) {}

    std::uint64_t take(const key& k, const scalar& s) override
    {
        add(k.name, k.is_printed ? text_of(s, s.value) : "");
        return s.value;
    }

    void other(const key& k, const form& f) override { add(k.name, k.is_printed ? f.print() : ""); }

    void mapping(const key& k, const describe_keys& describe, bool is_set) override
    {
        if (!is_set) {
            return;
        }
        std::string inner;
        printing lines{inner, at_.below(joined(at_.path, k.name))};
        describe(lines);
        if (inner.empty()) {
            add(k.name, "{}");
        } else {
            out_.append(indent()).append(yaml(k.name)).append(":\n").append(inner);
        }
    }

    void line(const key& k, const line_form& f) override;

    void each(const key& k, const collection& c) override
    {
        const std::size_t size = c.size();
        if (size == 0 && !c.describe_first) {
            add(k.name, c.named ? "{}" : "[]");
            return;
        }
        out_.append(indent()).append(k.name).append(":\n");
        const std::string path = joined(at_.path, k.name);
        printing lines{out_, at_.below(path)};
        if (c.describe_first) {
            lines.mapping(c.first, c.describe_first, true);
        }
        for (std::size_t i = 0; i < size; ++i) {
            const auto describe = [&c, i](keys& one) { c.describe(i, one); };
            if (c.named) {
                lines.mapping({c.name(i)}, describe, true);
                continue;
            }
            const std::size_t begin = out_.size();
            printing element{out_, at_.below(path + '[' + std::to_string(i) + ']', 2)};
            describe(element);
            out_[begin + 2 * (at_.depth + 1)] = '-';
        }
    }

private:
    std::string& out_;
    position at_;

    std::string indent() const { return std::string(2 * at_.depth, ' '); }

    virtual void add(std::string_view name, std::string_view value)
    {
        if (!value.empty()) {
            const std::string_view shown = at_.hides(name) ? "\"***\"" : value;
            out_.append(indent()).append(name).append(": ").append(shown).append("\n");
        }
    }
};

// `printing_line` appends the keys of a mapping that is written on one line.
class printing_line final : public printing {
public:
    explicit printing_line(std::string& out) : printing(out, {}), line_(out) {}

private:
    std::string& line_;

    void add(std::string_view name, std::string_view value) override
    {
        if (!value.empty()) {
            line_.append(line_.empty() ? "" : ", ").append(name).append(": ").append(value);
        }
    }
};

void printing::line(const key& k, const line_form& f)
{
    const std::string other_value = f.otherwise.print ? f.otherwise.print() : "";
    if (!f.is_set || !other_value.empty()) {
        add(k.name, other_value);
        return;
    }
    std::string inner;
    printing_line lines{inner};
    f.describe(lines);
    add(k.name, "{ " + inner + " }");
}

}  // namespace

std::string print(const settings& s)
{
    draft d;
    d.result = s;
    d.policy = *s.policy;
    std::string out;
    printing lines{out, {.secret_paths = s.secret_paths}};
    describe(lines, d);
    return out;
}

}  // namespace gateway::config
