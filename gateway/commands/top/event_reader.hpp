// `event_reader` reads server-sent events from pieces of a stream. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

struct stream_event {
    std::string id;
    std::string data;
};

class event_reader {
public:
    // Longest event, in bytes. A longer one is dropped with all bytes that have come.
    static constexpr std::size_t longest = std::size_t{16} * 1024 * 1024;

    // Takes the next bytes, and returns the events that they complete.
    std::vector<stream_event> read(std::string_view bytes);

private:
    std::string rest_;
};

}  // namespace gateway
