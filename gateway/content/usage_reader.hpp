// `usage_reader` finds what a response says that its request has cost: the last number at each of
// some paths, in all JSON texts of the content. Values count when they have come, so that of a
// response that breaks off those before the break count.
#pragma once

#include "gateway/content/content_lines.hpp"
#include "gateway/content/json_scanner.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace gateway::content {

class usage_reader final : private json_sink, private text_sink {
public:
    // Ownership: `paths` outlives this object.
    usage_reader(const json_paths& paths, content_form form)
        : paths_(paths), scanner_(paths, *this, json_scanner::rules::lenient), lines_(form, *this)
    {}

    void read(std::string_view bytes) { lines_.read(bytes); }

    // Returns the last number at the path, or nothing if there was none. Numbers that are no
    // integers, or negative, count as none; those beyond 2^53-1 are the largest of all.
    std::optional<std::int64_t> last(std::size_t path) const { return values_[path].last; }

    // Returns a number that is larger, the later the last number came.
    std::uint64_t when(std::size_t path) const { return values_[path].when; }

private:
    struct value {
        std::optional<std::int64_t> last;
        std::uint64_t when = 0;
    };

    const json_paths& paths_;
    std::array<value, json_paths::most> values_{};
    std::uint64_t count_ = 0;
    json_scanner scanner_;
    content_lines lines_;

    // json_sink
    void found(std::size_t path, kind is, std::string_view text) override;

    void repeated(path_set) override {}

    // text_sink
    void whole(std::string_view text) override;

    void piece(std::string_view bytes) override { scanner_.read(bytes); }

    void text_ended() override;
};

}  // namespace gateway::content
