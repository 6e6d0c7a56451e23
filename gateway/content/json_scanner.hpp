// `json_scanner` finds the values at some paths of a JSON text (RFC 8259) as its bytes arrive. It
// keeps nothing of the text but its position, so that any split of the bytes gives the same.
#pragma once

#include "gateway/content/json_paths.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace gateway::content {

// `json_sink` hears of the values while the text is scanned.
class json_sink {
public:
    enum class kind {
        // A string, without its escapes.
        text,
        // An integer (whole_number()), or a boolean, as JSON writes it at its shortest.
        integer,
        boolean,
        null,
        // An integer that is larger than json_number.hpp's largest, as it is spelled.
        large,
        // A number that is no integer, but that parsers may read as one.
        inexact,
        // Any other value, such as an object, 1.5 or a string that is too long.
        other,
    };

    // Called for the value at a path. `text` is empty for kinds without a value of their own: null,
    // inexact and other. Ownership: `text` is valid during the call.
    virtual void found(std::size_t path, kind is, std::string_view text) = 0;
    // Called if a member on these paths has the name of one before it in the same object.
    virtual void repeated(path_set paths) = 0;

protected:
    ~json_sink() = default;
};

class json_scanner {
public:
    // Most levels of objects and arrays by either rules, and most bytes of a string that counts.
    static constexpr std::size_t strict_depth = 32;
    static constexpr std::size_t lenient_depth = 256;
    static constexpr std::size_t longest_text = 4096;

    // Strict rules refuse what parsers could read in two ways, such as unpaired surrogates, text
    // that is no UTF-8, and a mark of the byte order. Lenient ones are for texts of which only
    // numbers count: surrogates and text may be anything, and an array at the root is as good as
    // its elements one after another. Raw control bytes are refused by both.
    enum class rules { strict, lenient };

    // Ownership: the arguments outlive this object.
    json_scanner(const json_paths& paths, json_sink& sink, rules by = rules::strict);
    ~json_scanner();
    json_scanner(json_scanner&&) = delete;

    // Reads on. Returns false if the text is invalid, now or before.
    bool read(std::string_view bytes);
    // Ends the text. Returns true if it is valid and whole.
    bool finish();
    // Begins with the next text.
    void reset();

    // True if the root of the text has been an object so far.
    bool is_object() const;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace gateway::content
