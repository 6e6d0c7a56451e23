#include "gateway/commands/top/event_reader.hpp"

#include "gateway/base/text.hpp"

namespace gateway {

namespace {

// Returns what follows "NAME: " in the line, or an empty text.
std::string_view field_of(std::string_view line, std::string_view name)
{
    const bool is_it = line.starts_with(name) && line.substr(name.size()).starts_with(": ");
    return is_it ? line.substr(name.size() + 2) : std::string_view{};
}

stream_event event_of(std::string_view text)
{
    stream_event event;
    base::for_each_element(text, '\n', [&event](std::string_view line) {
        event.id += field_of(line, "id");
        event.data += field_of(line, "data");
    });
    return event;
}

}  // namespace

std::vector<stream_event> event_reader::read(std::string_view bytes)
{
    constexpr std::string_view end = "\n\n";
    std::vector<stream_event> events;
    rest_ += bytes;
    std::size_t from = 0;
    for (std::size_t at = rest_.find(end); at != std::string::npos; at = rest_.find(end, from)) {
        events.push_back(event_of(std::string_view{rest_}.substr(from, at - from)));
        from = at + end.size();
    }
    rest_.erase(0, from);
    if (rest_.size() > longest) {
        base::clear_keeping_nothing(rest_);
    }
    return events;
}

}  // namespace gateway
