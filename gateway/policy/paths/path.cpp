#include "gateway/policy/paths/path.hpp"

#include "gateway/base/bytes16.hpp"
#include "gateway/base/hex.hpp"
#include "gateway/base/ip_address.hpp"

#include <algorithm>
#include <array>

namespace gateway::policy {

namespace {

constexpr std::string_view no_slash_first = "the path does not begin with a slash";
constexpr std::string_view bad_encoding = "the path has a malformed percent-encoding";
constexpr std::string_view control_byte = "the path has a control byte";
constexpr std::string_view overlong_utf8 =
    "the path has an overlong UTF-8 sequence, which some servers decode to another character";
constexpr std::string_view raw_byte =
    "the path has a backslash, ? or # that is not percent-encoded";
constexpr std::string_view dot_dot =
    "the path has a .. segment, which clients resolve before they send";
constexpr std::string_view disguised_dot =
    "the path has a . segment with parameters or beside an encoded separator";
constexpr std::string_view separator_in_parameter =
    "the path has an encoded separator (%2F or %5C) inside a parameter";

struct path_char {
    enum class kind { malformed, control, overlong, raw, ordinary, separator, semicolon };
    kind is = kind::ordinary;
    char byte = '\0';
    bool encoded = false;
};

// `path_reader` reads the path's characters one by one, decoded.
class path_reader {
public:
    explicit path_reader(std::string_view path) : rest_(path) {}

    bool at_end() const { return rest_.empty(); }

    path_char next()
    {
        using kind = path_char::kind;
        path_char c{kind::ordinary, rest_.front(), rest_.front() == '%'};
        if (c.encoded) {
            const int byte = base::percent_encoded(rest_);
            if (byte < 0) {
                return {kind::malformed, '%', true};
            }
            c.byte = static_cast<char>(byte);
        }
        rest_.remove_prefix(c.encoded ? 3 : 1);
        c.is = is_overlong(before_, static_cast<unsigned char>(c.byte))
                   ? kind::overlong
                   : kind_of(c.byte, c.encoded);
        before_ = static_cast<unsigned char>(c.byte);
        return c;
    }

private:
    std::string_view rest_;
    unsigned char before_ = 0;

    // True if `byte` shows that a character is encoded in more bytes than it needs (RFC 3629 §3,
    // §10). Lenient decoders read "%C0%AF", and some "%C0%6F", as a slash.
    static bool is_overlong(unsigned char before, unsigned char byte)
    {
        struct lead {
            unsigned char is;
            // The least first continuation byte of a sequence that is not overlong.
            unsigned char least;
        };

        constexpr std::array<lead, 4> leads{
            {{0xe0, 0xa0}, {0xf0, 0x90}, {0xf8, 0x88}, {0xfc, 0x84}}};
        return byte == 0xc0 || byte == 0xc1 ||
               std::any_of(leads.begin(), leads.end(), [before, byte](const lead& l) {
                   return before == l.is && byte >= 0x80 && byte < l.least;
               });
    }

    static path_char::kind kind_of(char byte, bool encoded)
    {
        using kind = path_char::kind;
        const auto number = static_cast<unsigned char>(byte);
        if (number < 0x20 || number == 0x7f) {
            return kind::control;
        }
        switch (byte) {
            case '/':
                return kind::separator;
            case '\\':
                return encoded ? kind::separator : kind::raw;
            case '?':
            case '#':
                return encoded ? kind::ordinary : kind::raw;
            case ';':
                return kind::semicolon;
            default:
                return kind::ordinary;
        }
    }
};

// `path_writer` builds the result of normalise_path() segment by segment. In `out`, the segment
// being read follows the last '/'.
class path_writer {
public:
    explicit path_writer(std::string& out) : out_(out) { out_ = "/"; }

    void add(const path_char& c)
    {
        if (parameters_) {
            return;
        }
        if (c.byte == '%' || c.byte == '?' || c.byte == '#') {
            out_ += c.byte == '%' ? "%25" : c.byte == '?' ? "%3F" : "%23";
        } else {
            out_ += c.byte;
        }
    }

    void begin_parameters() { parameters_ = true; }

    // Returns why the path is refused, or an empty text.
    [[nodiscard]] std::string_view end_segment(bool by_encoded_separator)
    {
        const std::string_view segment = std::string_view{out_}.substr(start_);
        if (segment == "..") {
            return dot_dot;
        }
        if (parameters_ && by_encoded_separator) {
            return separator_in_parameter;
        }
        if (segment == ".") {
            if (parameters_ || begun_by_encoded_ || by_encoded_separator) {
                return disguised_dot;
            }
            out_.resize(start_);
        } else if (!segment.empty()) {
            out_ += '/';
            start_ = out_.size();
        }
        begun_by_encoded_ = by_encoded_separator;
        parameters_ = false;
        return {};
    }

    // Ends the last segment, the only one that no separator ends.
    [[nodiscard]] std::string_view finish()
    {
        const std::size_t start = start_;
        const std::string_view refused_because = end_segment(false);
        if (start_ > start) {
            out_.pop_back();
        }
        return refused_because;
    }

private:
    std::string& out_;
    std::size_t start_ = 1;          // Position in out_ where the segment being read begins.
    bool begun_by_encoded_ = false;  // True if the separator before it was encoded.
    bool parameters_ = false;        // True if the reader is past its ';'.
};

// Puts the normal form into `room`. Returns why the path is refused, or an empty text.
std::string_view rewrite(std::string_view path, std::string& room)
{
    path_writer writer{room};
    path_reader reader{path.substr(1)};
    while (!reader.at_end()) {
        const path_char c = reader.next();
        switch (c.is) {
            case path_char::kind::malformed:
                return bad_encoding;
            case path_char::kind::control:
                return control_byte;
            case path_char::kind::overlong:
                return overlong_utf8;
            case path_char::kind::raw:
                return raw_byte;
            case path_char::kind::separator:
                if (const auto refused = writer.end_segment(c.encoded); !refused.empty()) {
                    return refused;
                }
                break;
            case path_char::kind::semicolon:
                writer.begin_parameters();
                break;
            case path_char::kind::ordinary:
                writer.add(c);
                break;
        }
    }
    return writer.finish();
}

// True if any of sixteen bytes of a path could be rewritten, ends an empty segment, or is a dot
// that begins a segment. `before` has the byte before each.
bool may_change(base::bytes16 c, base::bytes16 before)
{
    const auto special =
        (c < 0x21) | (c > 0x7e) | (c == '%') | (c == ';') | (c == '\\') | (c == '?') | (c == '#');
    return base::any_true(special | ((before == '/') & ((c == '/') | (c == '.'))));
}

// True if a quick look shows that the path is its own normal form, as most are. The look takes
// sixteen bytes a step: of a short path its first eight and its last eight, of a very short one a
// padded copy.
bool is_plain(std::string_view path)
{
    constexpr std::size_t step = sizeof(base::bytes16);
    constexpr std::size_t half = step / 2;
    if (path.size() > step) {
        return !base::any_step(path.substr(1), [](const char* p) {
            return may_change(base::load16(p), base::load16(p - 1));
        });
    }
    if (path.size() > half) {
        const char* const first = path.data() + 1;
        const char* const last = path.data() + path.size() - half;
        return !may_change(base::load8_8(first, last), base::load8_8(first - 1, last - 1));
    }
    std::array<char, step + 1> padded;
    padded.fill('a');
    std::copy(path.begin(), path.end(), padded.begin());
    return !may_change(base::load16(padded.data() + 1), base::load16(padded.data()));
}

}  // namespace

normalised_path normalise_path(std::string_view path, std::string& room)
{
    if (!path.starts_with('/')) {
        return {.refused_because = no_slash_first};
    }
    if (is_plain(path)) {
        return {.path = path};
    }
    if (const auto refused_because = rewrite(path, room); !refused_because.empty()) {
        return {.refused_because = refused_because};
    }
    return {.path = room};
}

std::string_view without_final_slash(std::string_view normalised)
{
    const bool slash = normalised.size() > 1 && normalised.ends_with('/');
    return normalised.substr(0, normalised.size() - (slash ? 1 : 0));
}

void normalise_host(std::string_view host, std::string& out)
{
    if (host.starts_with('[')) {
        const std::string_view inside = host.substr(1, host.find(']') - 1);
        const auto address = base::ip_address::parse(inside);
        out = '[' + (address ? address->to_string() : std::string(inside)) + ']';
        return;
    }
    host = host.substr(0, host.find(':'));
    if (host.ends_with('.')) {
        host.remove_suffix(1);
    }
    out.resize(host.size());
    std::transform(host.begin(), host.end(), out.begin(), base::to_lower);
}

}  // namespace gateway::policy
