// `content_lines` cuts the content of a response into the JSON texts that it consists of: one text,
// one in each line (NDJSON), or the data of each event of a stream (HTML Living Standard §9.2.6,
// `text/event-stream`). It keeps nothing but its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::content {

enum class content_form : std::uint8_t { json, lines, events };

// `text_sink` gets the texts: each at once if it lies in one line of the bytes that are read, as
// most of a stream's do, or piece by piece.
class text_sink {
public:
    virtual void whole(std::string_view text) = 0;
    virtual void piece(std::string_view bytes) = 0;
    virtual void text_ended() = 0;

protected:
    ~text_sink() = default;
};

class content_lines {
public:
    content_lines(content_form form, text_sink& sink) : form_(form), sink_(sink) {}

    void read(std::string_view bytes);

private:
    enum class position : std::uint8_t {
        // At the beginning of the content, where a mark of the byte order may stand.
        mark,
        // In the name of a field, of which `matched_` bytes are those of "data".
        name,
        // Behind "data:", where one space is left out.
        space,
        data,
        // In a line that is of no use.
        other,
    };

    content_form form_;
    text_sink& sink_;
    position at_ = position::mark;
    std::size_t matched_ = 0;
    // True if the last byte was a CR, so that a LF belongs to it.
    bool after_cr_ = false;
    bool line_is_empty_ = true;
    // True if the event has had a line of data, and if the text has begun.
    bool has_data_ = false;

    std::size_t read_whole(std::string_view bytes);
    bool is_before_text() const;
    void read_line_part(std::string_view bytes);
    bool read_before_data(char c);
    bool read_mark(char c);
    void read_name(char c);
    void line_ended();
};

}  // namespace gateway::content
