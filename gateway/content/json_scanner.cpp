#include "gateway/content/json_scanner.hpp"

#include "gateway/content/json_number.hpp"
#include "gateway/content/surrogate_escapes.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace gateway::content {

namespace {

namespace json = boost::json;
using boost::json::error_code;

// Node of values that no path leads to.
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

}  // namespace

// Follows the events of the parser along the paths. Costs nothing to speak of for what lies beside
// them.
class path_follower {
public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    path_follower(const json_paths& paths, json_sink& sink, json_scanner::rules by)
        : paths_(paths), sink_(sink), by_(by)
    {}

    void begin()
    {
        depth_ = 0;
        next_ = json_paths::root;
        text_.clear();
        is_object_ = false;
    }

    bool is_object() const { return is_object_; }

    bool on_document_begin(error_code&) { return true; }

    bool on_document_end(error_code&) { return true; }

    bool on_object_begin(error_code&)
    {
        is_object_ = is_object_ || depth_ == 0;
        open({.node = next_});
        next_ = nowhere;
        return true;
    }

    bool on_object_end(std::size_t, error_code&) { return close(); }

    bool on_array_begin(error_code&)
    {
        const bool elements = depth_ == 0 && by_ == json_scanner::rules::lenient;
        open({.node = next_, .is_array = true, .of_roots = elements});
        next_ = element();
        return true;
    }

    bool on_array_end(std::size_t, error_code&) { return close(); }

    bool on_key_part(json::string_view part, std::size_t, error_code&)
    {
        return !names_count() || add(part, json_paths::longest_name);
    }

    bool on_key(json::string_view part, std::size_t, error_code&)
    {
        if (!names_count()) {
            return true;
        }
        add(part, json_paths::longest_name);
        level& in = levels_[depth_ - 1];
        const auto child = is_long_ ? std::nullopt : paths_.child_of(in.node, text_);
        forget_text();
        next_ = nowhere;
        if (child) {
            next_ = paths_.at(in.node).children[*child];
            if ((in.seen & only(*child)) != 0) {
                sink_.repeated(paths_.at(next_).below);
            }
            in.seen |= only(*child);
        }
        return true;
    }

    bool on_string_part(json::string_view part, std::size_t, error_code&)
    {
        return !is_wanted() || add(part, json_scanner::longest_text);
    }

    bool on_string(json::string_view part, std::size_t, error_code&)
    {
        if (is_wanted()) {
            add(part, json_scanner::longest_text);
            is_long_ ? report(json_sink::kind::other, {}) : report(json_sink::kind::text, text_);
        }
        return value_ended();
    }

    bool on_number_part(json::string_view part, error_code&)
    {
        return !is_wanted() || add(part, json_scanner::longest_text);
    }

    bool on_int64(std::int64_t, json::string_view part, error_code&) { return number(part); }

    bool on_uint64(std::uint64_t, json::string_view part, error_code&) { return number(part); }

    bool on_double(double, json::string_view part, error_code&) { return number(part); }

    bool on_bool(bool value, error_code&)
    {
        report(json_sink::kind::boolean, value ? "true" : "false");
        return value_ended();
    }

    bool on_null(error_code&)
    {
        report(json_sink::kind::null, {});
        return value_ended();
    }

    bool on_comment_part(json::string_view, error_code&) { return true; }

    bool on_comment(json::string_view, error_code&) { return true; }

private:
    struct level {
        std::size_t node = nowhere;
        bool is_array = false;
        // True if the elements count as roots.
        bool of_roots = false;
        // Position of the element that is read.
        std::size_t index = 0;
        // Children of the node that have occurred.
        path_set seen = 0;
    };

    const json_paths& paths_;
    json_sink& sink_;
    json_scanner::rules by_;
    // No path leads below these.
    std::array<level, json_paths::most_names + 2> levels_{};
    std::size_t depth_ = 0;
    // Node of the next value.
    std::size_t next_ = json_paths::root;
    // A name, string or number so far, if it counts.
    std::string text_;
    bool is_long_ = false;
    bool is_object_ = false;

    // True if `levels_` has the object or array that is read.
    bool is_followed() const { return depth_ > 0 && depth_ <= levels_.size(); }

    // True if names of the object that is read may be on a path.
    bool names_count() const
    {
        const std::size_t node = is_followed() ? levels_[depth_ - 1].node : nowhere;
        return node != nowhere && !paths_.at(node).children.empty();
    }

    bool is_wanted() const
    {
        return next_ != nowhere && paths_.at(next_).path != json_paths::no_path;
    }

    bool add(json::string_view part, std::size_t most)
    {
        is_long_ = is_long_ || text_.size() + part.size() > most;
        if (!is_long_) {
            text_.append(part.data(), part.size());
        }
        return true;
    }

    void forget_text()
    {
        text_.clear();
        is_long_ = false;
    }

    void report(json_sink::kind is, std::string_view text)
    {
        if (is_wanted()) {
            sink_.found(paths_.at(next_).path, is, text);
        }
        forget_text();
    }

    // Reports the number in `text_`.
    void report_number()
    {
        const auto value = is_long_ ? std::nullopt : whole_number(text_);
        if (!value) {
            const bool may_be_integer = is_long_ || reads_as_integer(text_);
            report(may_be_integer ? json_sink::kind::inexact : json_sink::kind::other, {});
        } else if (*value > largest_integer) {
            report(json_sink::kind::large, text_);
        } else if (*value < -largest_integer) {
            report(json_sink::kind::other, {});
        } else {
            std::array<char, 24> shortest{};
            char* const end =
                std::to_chars(shortest.data(), shortest.data() + shortest.size(), *value).ptr;
            report(json_sink::kind::integer, {shortest.data(), end});
        }
    }

    bool number(json::string_view part)
    {
        if (is_wanted()) {
            add(part, json_scanner::longest_text);
            report_number();
        }
        return value_ended();
    }

    void open(level l)
    {
        report(json_sink::kind::other, {});
        ++depth_;
        if (is_followed()) {
            levels_[depth_ - 1] = l;
        }
    }

    bool close()
    {
        --depth_;
        return value_ended();
    }

    // Moves to the value behind this one, if that is in an array.
    bool value_ended()
    {
        next_ = nowhere;
        if (is_followed() && levels_[depth_ - 1].is_array) {
            ++levels_[depth_ - 1].index;
            next_ = element();
        }
        return true;
    }

    // Returns the node of the array's next element.
    std::size_t element() const
    {
        if (!is_followed()) {
            return nowhere;
        }
        const level& in = levels_[depth_ - 1];
        if (in.of_roots || !names_count()) {
            return in.of_roots ? in.node : nowhere;
        }
        std::array<char, 24> digits{};
        char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), in.index).ptr;
        const auto child = paths_.child_of(in.node, {digits.data(), end});
        return child ? paths_.at(in.node).children[*child] : nowhere;
    }
};

namespace {

json::parse_options options_of(json_scanner::rules by)
{
    const bool is_strict = by == json_scanner::rules::strict;
    json::parse_options options;
    options.max_depth = is_strict ? json_scanner::strict_depth : json_scanner::lenient_depth;
    options.allow_invalid_utf8 = !is_strict;
    return options;
}

bool is_blank(std::string_view bytes)
{
    return bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

class json_scanner::machine {
public:
    machine(const json_paths& paths, json_sink& sink, rules by)
        : parser_(options_of(by), paths, sink, by), is_strict_(by == rules::strict)
    {
        parser_.handler().begin();
    }

    bool read(std::string_view bytes, bool more)
    {
        if (parser_.done()) {
            is_valid_ = is_valid_ && is_blank(bytes);
            return is_valid_;
        }
        if (!is_valid_ || (bytes.empty() && more)) {
            return is_valid_;
        }
        error_code ec;
        bytes = is_strict_ ? bytes : surrogates_.replaced_in(bytes);
        const std::size_t used = parser_.write_some(more, bytes.data(), bytes.size(), ec);
        is_valid_ = !ec && is_blank(bytes.substr(used));
        return is_valid_;
    }

    void reset()
    {
        parser_.reset();
        parser_.handler().begin();
        surrogates_ = {};
        is_valid_ = true;
    }

    bool is_whole() const { return is_valid_ && parser_.done(); }

    bool is_object() const { return parser_.handler().is_object(); }

private:
    json::basic_parser<path_follower> parser_;
    bool is_strict_;
    surrogate_escapes surrogates_;
    bool is_valid_ = true;
};

json_scanner::json_scanner(const json_paths& paths, json_sink& sink, rules by)
    : machine_(std::make_unique<machine>(paths, sink, by))
{}

json_scanner::~json_scanner() = default;

bool json_scanner::read(std::string_view bytes)
{
    return machine_->read(bytes, true);
}

bool json_scanner::finish()
{
    machine_->read({}, false);
    return machine_->is_whole();
}

void json_scanner::reset()
{
    machine_->reset();
}

bool json_scanner::is_object() const
{
    return machine_->is_object();
}

}  // namespace gateway::content
