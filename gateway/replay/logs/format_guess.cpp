#include "gateway/replay/logs/format_guess.hpp"

#include "gateway/replay/logs/combined_reader.hpp"
#include "gateway/replay/logs/haproxy_reader.hpp"
#include "gateway/replay/logs/json_reader.hpp"
#include "gateway/replay/logs/own_text_reader.hpp"

#include <utility>
#include <vector>

namespace gateway::replay {

namespace {

using readers = std::vector<std::unique_ptr<line_reader>>;

// Returns the readers, of which an earlier one counts more if two read as many lines: a line of our
// text begins like one of the common log format.
readers all_readers(const wanted_parts& wanted, const std::optional<json_format>& described)
{
    readers all;
    if (described) {
        all.push_back(std::make_unique<json_reader>(*described, wanted));
        return all;
    }
    for (const auto& format : {own_json(wanted), caddy_json(wanted), traefik_json(wanted)}) {
        all.push_back(std::make_unique<json_reader>(format, wanted));
    }
    all.push_back(std::make_unique<own_text_reader>(wanted));
    all.push_back(std::make_unique<combined_reader>(wanted));
    all.push_back(std::make_unique<haproxy_reader>(wanted));
    return all;
}

// Adds to `held` the parts that a line tells. Returns false if the reader cannot read it.
bool try_line(line_reader& reader, std::string line, const wanted_parts& wanted, part_set& held)
{
    if (line.ends_with('\n')) {
        line.pop_back();
    }
    logged_request request;
    std::vector<part_text> parts;
    if (!reader.read(line, request, parts)) {
        return false;
    }
    for (const part_text& p : parts) {
        held |= bit(p.part);
    }
    const bool has_query = request.target.find('?') != std::string_view::npos;
    held |= has_query ? wanted.all_from(source::query) : 0;
    return true;
}

}  // namespace

guessed_format guess_format(
    std::span<const std::string> first_lines,
    const wanted_parts& wanted,
    const std::optional<json_format>& described
)
{
    guessed_format best;
    std::size_t most = 0;
    for (auto& reader : all_readers(wanted, described)) {
        std::size_t read = 0;
        part_set held = 0;
        for (const std::string& line : first_lines) {
            read += try_line(*reader, line, wanted, held) ? 1 : 0;
        }
        if (read > most) {
            most = read;
            best = {std::move(reader), held};
        }
    }
    return best;
}

}  // namespace gateway::replay
