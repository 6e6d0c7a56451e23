// `request_values` are the values that a request's JSON content has at the paths of a policy, as
// far as the content was read. Servers read a name that occurs twice in different ways, so such a
// value is ambiguous.
#pragma once

#include "gateway/content/json_scanner.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::content {

// `content_state` says how much of a request's content could be read.
enum class content_state : std::uint8_t {
    // There is none, or none that is ever read.
    none,
    // Nothing was read yet.
    unread,
    // It is no JSON object, or is sent in a media type or coding that is not read.
    unreadable,
    // The beginning was read, and is good so far.
    begun,
    // All of it was read.
    whole,
};

class request_values final : private json_sink {
public:
    // other: a value that is neither a text, an integer, a boolean nor null, which is as absent.
    enum class presence : std::uint8_t { absent, present, other, ambiguous };

    // `is_json`: false if the content, should there be any, is of a type that is not read.
    // Ownership: `paths` outlives this object.
    explicit request_values(const json_paths& paths, bool is_json = true)
        : is_json_(is_json), scanner_(paths, *this)
    {}

    // Reads as much of a content as counts, `most` bytes of it. `ends`: nothing follows `bytes`.
    void read_beginning(std::string_view bytes, std::size_t most, bool ends)
    {
        read(bytes.substr(0, most));
        if (ends && bytes.size() <= most) {
            finish();
        }
    }

    // Reads on. After an error it does nothing.
    void read(std::string_view bytes);
    // Ends the content.
    void finish();
    // Reads what lies behind the part that counts. `ends`: nothing follows. Returns false if that
    // has made the content unreadable, or ambiguous at another of these paths.
    bool stays_sound(std::string_view bytes, bool ends, path_set paths);

    content_state state() const { return state_; }

    presence at(std::size_t path) const { return values_[path].is; }

    // True if the value is a string.
    bool is_text(std::size_t path) const { return values_[path].is_text; }

    // True if a value at one of these paths is absent.
    bool lacks_any(path_set paths) const;

    // Returns the value if that is present: a text, the digits of an integer, `true` or `false`.
    // Ownership: valid until the next read().
    std::string_view text(std::size_t path) const
    {
        const value& v = values_[path];
        return std::string_view{texts_}.substr(v.begin, v.size);
    }

    // Returns the value as an answer of JSON-RPC repeats the `id` of its call: a text or a number
    // as JSON writes it, or else `null` (JSON-RPC 2.0 §5).
    std::string as_rpc_id(std::size_t path) const;

private:
    struct value {
        presence is = presence::absent;
        bool is_text = false;
        std::size_t begin = 0;
        std::size_t size = 0;
    };

    bool is_json_;
    // True if there is no content so far.
    bool is_empty_ = true;
    content_state state_ = content_state::begun;
    path_set ambiguous_ = 0;
    std::array<value, json_paths::most> values_{};
    std::string texts_;
    json_scanner scanner_;

    // json_sink
    void found(std::size_t path, kind is, std::string_view text) override;
    void repeated(path_set paths) override;
};

// `request_content` is what is known of a request's content.
// Ownership: whoever reads it has the values; they are null unless it was read.
struct request_content {
    content_state state = content_state::none;
    const request_values* values = nullptr;

    // Returns how the value at a path stands. It is absent from content that cannot be read.
    request_values::presence at(std::size_t path) const
    {
        const bool is_read = values != nullptr && state != content_state::unreadable;
        return is_read ? values->at(path) : request_values::presence::absent;
    }

    // Returns the value at a path, or nothing if there is none that every server reads.
    std::optional<std::string_view> value(std::size_t path) const
    {
        const bool is_one = at(path) == request_values::presence::present;
        return is_one ? std::optional{values->text(path)} : std::nullopt;
    }
};

}  // namespace gateway::content
