// `haproxy_reader` reads HAProxy's HTTP log format, with what syslog writes in front or without.
#pragma once

#include "gateway/replay/logs/line_reader.hpp"

namespace gateway::replay {

class haproxy_reader final : public line_reader {
public:
    explicit haproxy_reader(const wanted_parts& wanted);

    std::string_view name() const override { return "HAProxy's HTTP log format"; }

    bool read(std::span<char> line, logged_request& out, std::vector<part_text>& parts) override;

private:
    part_set hosts_;
    part_set queries_;
};

}  // namespace gateway::replay
