// `combined_reader` reads the common and the combined log format of nginx and Apache, with a
// virtual host in front or without.
#pragma once

#include "gateway/replay/logs/line_reader.hpp"
#include "gateway/replay/logs/timestamp.hpp"

#include <optional>

namespace gateway::replay {

class combined_reader final : public line_reader {
public:
    explicit combined_reader(const wanted_parts& wanted);

    std::string_view name() const override { return "the combined log format"; }

    bool read(std::span<char> line, logged_request& out, std::vector<part_text>& parts) override;

private:
    part_set hosts_;
    part_set queries_;
    std::optional<std::size_t> referer_;
    std::optional<std::size_t> user_agent_;
    repeated_moment moments_;

    void add_header(
        std::optional<std::size_t> part,
        std::string_view value,
        logged_request& out,
        std::vector<part_text>& parts
    ) const;
};

}  // namespace gateway::replay
