// `json_cursor` walks over the members of one JSON object where it lies, without a tree and without
// an allocation. Escapes in strings are replaced in place, as the text never grows by it. Members
// that are objects or arrays are returned as they stand, for a cursor of their own. Strict enough
// to tell a line that was cut off; it does not look at what is inside of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gateway::replay {

enum class json_kind : std::uint8_t { string, number, literal, object, array };

struct json_value {
    json_kind is = json_kind::literal;
    // The contents of a string, or the text of any other value, brackets included.
    std::span<char> text{};

    std::string_view view() const { return {text.data(), text.size()}; }
};

struct json_member {
    // Unset if the member is the expected one.
    std::string_view name;
    json_value value;
    // All bytes between the value before and this one: a comma, the name, a colon and blanks. Unset
    // if the member is the expected one; empty if its name had escapes.
    std::string_view lead;
    // True if it is the member that the caller expected.
    bool expected = false;
};

class json_cursor {
public:
    // Ownership: the text outlives the cursor and everything that it returns.
    explicit json_cursor(std::span<char> text);

    // Moves on to the next member. Returns false at the end of the object, or if it is malformed. A
    // member with the lead that the caller expects is found sooner.
    // Requires: `likely` was the lead of a member at the same position of another object. Empty: no
    // member is expected.
    bool next(json_member& out, std::string_view likely = {});

    // True if the object has ended well, and nothing but blanks follows it. Known once next() has
    // returned false.
    bool is_complete() const { return complete_; }

private:
    char* at_;
    char* end_;
    bool first_ = true;
    bool complete_ = false;

    bool accept_lead(std::string_view likely);
    bool read_lead(json_member& out);
    bool read_name(std::string_view& out);
};

// `json_elements` walks over the elements of one JSON array in the same way.
class json_elements {
public:
    explicit json_elements(std::span<char> text);

    // Moves on to the next element. Returns false at the end of the array, or if it is malformed.
    bool next(json_value& out);

private:
    char* at_;
    char* end_;
    bool first_ = true;
};

}  // namespace gateway::replay
