// `own_text_reader` reads the gateway's own log with `log: { format: text }`.
#pragma once

#include "gateway/replay/logs/line_reader.hpp"

namespace gateway::replay {

class own_text_reader final : public line_reader {
public:
    // Ownership: `wanted` outlives this object.
    explicit own_text_reader(const wanted_parts& wanted);

    std::string_view name() const override { return "the gateway's text"; }

    bool read(std::span<char> line, logged_request& out, std::vector<part_text>& parts) override;

private:
    const wanted_parts& wanted_;
    part_set hosts_;

    void note(
        std::string_view name,
        std::string_view value,
        logged_request& out,
        std::vector<part_text>& parts
    ) const;
};

}  // namespace gateway::replay
