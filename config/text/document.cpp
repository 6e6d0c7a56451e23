#include "config/text/document.hpp"

#include "config/text/hints.hpp"
#include "gateway/base/chars.hpp"
#include "gateway/base/utf8.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace gateway::config {
namespace {

struct refusal {
    place at;
    std::string message;
};

place place_of(const YAML::Mark& mark, int file = 0)
{
    return mark.is_null() ? place{0, 0, file} : place{mark.line + 1, mark.column + 1, file};
}

// `builder` takes the parser's events and grows the tree.
// Errors: throws `refusal`.
class builder : public YAML::EventHandler {
public:
    explicit builder(int file) : file_(file) {}

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        if (root_) {
            throw refusal{place_of(mark), "more than one YAML document in the file"};
        }
    }

    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        add(start(node::kind::nothing, mark, anchor, {}));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override
    {
        throw refusal{place_of(mark), no_anchors};
    }

    void OnScalar(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        const std::string& value
    ) override
    {
        node scalar = start(node::kind::scalar, mark, anchor, tag);
        if (std::any_of(value.begin(), value.end(), base::is_control)) {
            throw refusal{scalar.at, "control character or line break in a value"};
        }
        scalar.text = value;
        scalar.plain = tag == "?";
        add(std::move(scalar));
    }

    void OnSequenceStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        YAML::EmitterStyle::value
    ) override
    {
        open(start(node::kind::list, mark, anchor, tag));
    }

    void OnSequenceEnd() override { close(); }

    void OnMapStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        YAML::EmitterStyle::value
    ) override
    {
        open(start(node::kind::mapping, mark, anchor, tag));
    }

    void OnMapEnd() override { close(); }

    std::optional<node>& root() { return root_; }

private:
    struct frame {
        node collection;
        std::optional<node> key;  // read, but its value not yet
    };

    static constexpr const char* no_anchors =
        "anchors and aliases are not supported: write the value out";

    node start(
        node::kind kind, const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag
    ) const
    {
        node n;
        n.is = kind;
        n.at = place_of(mark, file_);
        if (anchor != YAML::NullAnchor) {
            throw refusal{n.at, no_anchors};
        }
        if (!tag.empty() && tag != "?" && tag != "!") {
            throw refusal{n.at, "YAML tags are not supported"};
        }
        return n;
    }

    void open(node collection)
    {
        if (frames_.size() >= max_depth) {
            throw refusal{
                collection.at, "nested more than " + std::to_string(max_depth) + " levels deep"};
        }
        frames_.push_back({std::move(collection), std::nullopt});
    }

    void close()
    {
        node done = std::move(frames_.back().collection);
        frames_.pop_back();
        add(std::move(done));
    }

    void add(node n)
    {
        if (frames_.empty()) {
            root_ = std::move(n);
            return;
        }
        frame& parent = frames_.back();
        if (parent.collection.is == node::kind::list) {
            parent.collection.items.push_back(std::move(n));
            return;
        }
        if (!parent.key) {
            if (n.is != node::kind::scalar) {
                throw refusal{n.at, "a key must be text, not " + std::string{name_of(n.is)}};
            }
            parent.key = std::move(n);
            return;
        }
        if (n.is == node::kind::nothing) {
            n.at = parent.key->at;  // yaml-cpp's own mark may be a line further down
        }
        parent.collection.entries.push_back({std::move(*parent.key), std::move(n)});
        parent.key.reset();
    }

    int file_;
    std::vector<frame> frames_;
    std::optional<node> root_;
};

// Refuses bytes that yaml-cpp misreads. It takes 0x04 for the end of the file, and a zero byte for
// UTF-16. It passes on what is no UTF-8 as it stands.
void refuse_what_is_no_text(std::string_view yaml)
{
    const std::size_t bad = base::first_not_utf8(yaml);
    place at{1, 1};
    for (const char c : yaml.substr(0, bad)) {
        if (base::is_control(c) && c != '\t' && c != '\n' && c != '\r') {
            throw refusal{at, "control character in the file (is it UTF-8 text?)"};
        }
        at = c == '\n' ? place{at.line + 1, 1} : place{at.line, at.column + 1};
    }
    if (bad != std::string_view::npos) {
        throw refusal{at, "the file is not UTF-8: save it in that encoding"};
    }
}

// Returns the line of that number, counted from 1. Empty if there is none.
std::string_view line_of(std::string_view yaml, int number)
{
    for (; number > 1; --number) {
        const std::size_t end = yaml.find('\n');
        yaml.remove_prefix(end == std::string_view::npos ? yaml.size() : end + 1);
    }
    return number < 1 ? std::string_view{} : yaml.substr(0, yaml.find('\n'));
}

// Returns advice on a mistake, which yaml-cpp may notice only on the line after it.
std::string advice(std::string_view yaml, place at)
{
    for (const int line : {at.line, at.line - 1}) {
        if (const std::string_view hint = yaml_hint(line_of(yaml, line)); !hint.empty()) {
            return "; line " + std::to_string(line) + ": " + std::string{hint};
        }
    }
    return " (the mistake may be on the line before)";
}

node parse(std::string_view yaml, int file)
{
    if (yaml.size() > max_file_bytes) {
        throw refusal{{}, "larger than the maximum of 16MiB"};
    }
    refuse_what_is_no_text(yaml);
    std::istringstream stream{std::string{yaml}};
    YAML::Parser parser{stream};
    builder tree{file};
    while (parser.HandleNextDocument(tree)) {
    }
    return tree.root() ? std::move(*tree.root()) : node{};
}

}  // namespace

std::string_view name_of(node::kind kind)
{
    switch (kind) {
        case node::kind::nothing:
            return "nothing";
        case node::kind::scalar:
            return "a plain value";
        case node::kind::list:
            return "a list";
        case node::kind::mapping:
            return "a mapping";
    }
    return {};
}

node parse_document(std::string_view yaml, std::string_view file_name, int file)
{
    try {
        return parse(yaml, file);
    } catch (const refusal& r) {
        throw config_error{file_name, {{r.at, {}, r.message}}};
    } catch (const YAML::Exception& e) {
        const place at = place_of(e.mark);
        throw config_error{file_name, {{at, {}, "not valid YAML: " + e.msg + advice(yaml, at)}}};
    }
}

}  // namespace gateway::config
