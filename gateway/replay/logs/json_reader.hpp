// `json_reader` reads lines that are JSON objects. It expects members in the order of the line
// before, so that a name is compared once.
#pragma once

#include "gateway/replay/logs/json_cursor.hpp"
#include "gateway/replay/logs/json_format.hpp"
#include "gateway/replay/logs/line_reader.hpp"
#include "gateway/replay/logs/own_fields.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gateway::replay {

class json_reader final : public line_reader {
public:
    // Ownership: `wanted` outlives this object.
    json_reader(json_format format, const wanted_parts& wanted);

    std::string_view name() const override { return format_.name; }

    bool read(std::span<char> line, logged_request& out, std::vector<part_text>& parts) override;

private:
    // `meaning` is what a member tells; `inside` is the level of an object's own members.
    struct meaning {
        json_role role = json_role::none;
        std::size_t part = 0;
        std::size_t inside = 0;
    };

    struct expected_member {
        std::string name;
        // The bytes in front of its value.
        std::string lead;
        meaning means;
    };

    // `level` is an object at one place of the lines.
    struct level {
        // Its rules; null: its members are headers.
        const std::vector<json_rule>* rules = nullptr;
        // Levels of the objects inside, in the order of the rules.
        std::vector<std::size_t> inside{};
        // Members as they came in the line before.
        std::vector<expected_member> expected{};
    };

    // `reading` is the line that is being read.
    struct reading {
        logged_request& out;
        std::vector<part_text>& parts;
        std::optional<base::duration> decided{};
        // The member `time`, which is parsed if there is no other moment.
        std::optional<std::string_view> time{};
        bool has_client = false;
        bool has_target = false;
        own_fields fields{};
        bool good = true;
    };

    static constexpr std::size_t level_of_headers = 1;

    json_format format_;
    const wanted_parts& wanted_;
    std::vector<level> levels_;
    part_set cookies_;
    // True if limits may have waited for the content of requests.
    bool awaits_contents_;

    level level_of(const std::vector<json_rule>& rules);
    meaning find(const level& of, std::string_view name) const;
    meaning learn(level& of, std::size_t position, const json_member& m) const;
    void walk(std::size_t index, std::span<char> object, reading& line);
    void note(const meaning& means, json_value value, reading& line);
    void note_own_word(json_role role, json_value value, reading& line);
    void note_number(json_role role, json_value value, reading& line);
    void note_header(std::size_t part, json_value value, reading& line);
    bool finish(reading& line) const;
};

}  // namespace gateway::replay
