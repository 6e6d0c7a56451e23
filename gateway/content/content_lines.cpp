#include "gateway/content/content_lines.hpp"

#include <algorithm>
#include <utility>

namespace gateway::content {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view data_name = "data";

// Returns the position of the first CR or LF, or the size.
std::size_t end_of_line(std::string_view bytes)
{
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    return std::min(line.find('\r'), line.size());
}

}  // namespace

void content_lines::read(std::string_view bytes)
{
    if (form_ == content_form::json) {
        sink_.piece(bytes);
        return;
    }
    while (!bytes.empty()) {
        if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        if (const std::size_t size = read_whole(bytes); size > 0) {
            bytes.remove_prefix(size);
            continue;
        }
        const std::size_t end = end_of_line(bytes);
        read_line_part(bytes.substr(0, end));
        if (end < bytes.size()) {
            after_cr_ = bytes[end] == '\r';
            line_ended();
        }
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
}

// True at the beginning of a line in front of which the text has nothing.
bool content_lines::is_before_text() const
{
    return line_is_empty_ && matched_ == 0 && !has_data_ &&
           (form_ == content_form::lines || at_ == position::name);
}

// Reads a text that is all in one line, with the end of the event. Returns the bytes it took; 0 if
// the next bytes are none.
std::size_t content_lines::read_whole(std::string_view bytes)
{
    const bool events = form_ == content_form::events;
    const std::string_view name = events ? "data:" : "";
    const std::string_view end = events ? "\n\n" : "\n";
    if (!is_before_text() || !bytes.starts_with(name)) {
        return 0;
    }
    const std::size_t size = bytes.find('\n');
    const std::string_view line = bytes.substr(0, size);
    if (size == bytes.npos || !bytes.substr(size).starts_with(end) ||
        line.find('\r') != line.npos || line.size() == name.size()) {
        return 0;
    }
    sink_.whole(line.substr(name.size()));
    return size + end.size();
}

void content_lines::read_line_part(std::string_view bytes)
{
    if (form_ == content_form::lines) {
        line_is_empty_ = line_is_empty_ && bytes.empty();
        sink_.piece(bytes);
        return;
    }
    while (!bytes.empty() && at_ < position::data) {
        bytes.remove_prefix(read_before_data(bytes.front()) ? 1 : 0);
    }
    if (at_ == position::data && !bytes.empty()) {
        sink_.piece(bytes);
    }
}

// Reads a byte in front of the data of a line. Returns false if it belongs to what follows.
bool content_lines::read_before_data(char c)
{
    if (at_ == position::mark) {
        return read_mark(c);
    }
    if (at_ == position::name) {
        read_name(c);
        return true;
    }
    at_ = position::data;
    if (std::exchange(has_data_, true)) {
        sink_.piece("\n");
    }
    return c == ' ';
}

bool content_lines::read_mark(char c)
{
    const bool is_mark = c == byte_order_mark[matched_];
    if (is_mark && ++matched_ < byte_order_mark.size()) {
        return true;
    }
    at_ = is_mark || matched_ == 0 ? position::name : position::other;
    matched_ = 0;
    return is_mark;
}

void content_lines::read_name(char c)
{
    line_is_empty_ = false;
    if (matched_ == data_name.size() && c == ':') {
        at_ = position::space;
    } else if (matched_ < data_name.size() && c == data_name[matched_]) {
        ++matched_;
    } else {
        at_ = position::other;
    }
}

// Ends a line. An empty one ends the event.
void content_lines::line_ended()
{
    const bool empty = std::exchange(line_is_empty_, true);
    at_ = position::name;
    matched_ = 0;
    if (form_ == content_form::lines ? !empty : empty && std::exchange(has_data_, false)) {
        sink_.text_ended();
    }
}

}  // namespace gateway::content
