#include "gateway/policy/path.hpp"

#include "gateway/base/bytes16.hpp"
#include "gateway/base/hex.hpp"
#include "gateway/base/ip_address.hpp"

#include <algorithm>
#include <array>

namespace gateway::policy {

namespace {

struct path_char {
    enum class kind { malformed, ordinary, separator, semicolon } is = kind::ordinary;
    char byte = '\0';
    bool encoded = false;
};

// The path's characters one by one, decoded.
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
        c.is = kind_of(c.byte, c.encoded);
        return c;
    }

private:
    std::string_view rest_;

    static path_char::kind kind_of(char byte, bool encoded)
    {
        using kind = path_char::kind;
        const auto number = static_cast<unsigned char>(byte);
        if (number < 0x20 || number == 0x7f) {
            return kind::malformed;
        }
        switch (byte) {
            case '/':
                return kind::separator;
            case '\\':
                return encoded ? kind::separator : kind::malformed;
            case '?':
            case '#':
                return encoded ? kind::ordinary : kind::malformed;
            case ';':
                return kind::semicolon;
            default:
                return kind::ordinary;
        }
    }
};

// Puts together what normalise_path() returns, segment by segment. `out` always ends in the '/'
// that begins the segment being read.
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

    // False: refuse the path.
    [[nodiscard]] bool end_segment(bool by_encoded_separator)
    {
        const std::string_view segment = std::string_view{out_}.substr(start_);
        const bool is_dots = segment == "." || segment == "..";
        if (is_dots && (parameters_ || begun_by_encoded_ || by_encoded_separator)) {
            return false;
        }
        if (segment == "..") {
            if (start_ == 1 || passed_empty_) {
                return false;
            }
            start_ = out_.rfind('/', start_ - 2) + 1;
            out_.resize(start_);
        } else if (segment == ".") {
            out_.resize(start_);
        } else if (segment.empty()) {
            passed_empty_ = true;
        } else {
            out_ += '/';
            start_ = out_.size();
        }
        begun_by_encoded_ = by_encoded_separator;
        parameters_ = false;
        return true;
    }

    // The last segment is the only one that no separator ends.
    [[nodiscard]] bool finish()
    {
        const std::size_t start = start_;
        if (!end_segment(false)) {
            return false;
        }
        if (start_ > start) {
            out_.pop_back();
        }
        return true;
    }

private:
    std::string& out_;
    std::size_t start_ = 1;          // where the segment being read begins in out_
    bool begun_by_encoded_ = false;  // the separator before it was encoded
    bool parameters_ = false;        // past its ';'
    bool passed_empty_ = false;      // an empty segment was dropped somewhere before it
};

// Sixteen bytes of a path, and the byte before each: is there one that could be rewritten, or an
// empty segment, or one that begins with a dot?
bool may_change(base::bytes16 c, base::bytes16 before)
{
    const auto special =
        (c < 0x21) | (c > 0x7e) | (c == '%') | (c == ';') | (c == '\\') | (c == '?') | (c == '#');
    return base::any_true(special | ((before == '/') & ((c == '/') | (c == '.'))));
}

// Most paths are their own normal form, and a look at sixteen bytes a step tells: of a short path
// at its first eight and its last eight, of a very short one at a copy, padded.
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

std::optional<std::string_view> normalise_path(std::string_view path, std::string& room)
{
    if (!path.starts_with('/')) {
        return std::nullopt;
    }
    if (is_plain(path)) {
        return path;
    }
    path_writer writer{room};
    path_reader reader{path.substr(1)};
    while (!reader.at_end()) {
        const path_char c = reader.next();
        switch (c.is) {
            case path_char::kind::malformed:
                return std::nullopt;
            case path_char::kind::separator:
                if (!writer.end_segment(c.encoded)) {
                    return std::nullopt;
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
    return writer.finish() ? std::optional<std::string_view>{room} : std::nullopt;
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
