// `ordered_log` reads one access log and returns its requests in the order of their moments, if no
// line is more than a minute late. Servers write a line when its request is over, so that a slow
// request comes behind later ones.
// Thread: one thread only.
#pragma once

#include "gateway/replay/logs/format_guess.hpp"
#include "gateway/replay/logs/line_memory.hpp"
#include "gateway/replay/logs/log_lines.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gateway::replay {

// `bad_line` is a line that could not be read.
struct bad_line {
    std::string file;
    std::uint64_t line = 0;
    std::string text;
};

struct line_counts {
    std::uint64_t lines = 0;
    std::uint64_t bad = 0;
    // Lines that came more than a minute late, or later than the bounds allow.
    std::uint64_t late = 0;
    // The first bad line.
    std::optional<bad_line> first_bad{};
};

class ordered_log {
public:
    static constexpr base::duration window = std::chrono::minutes{1};
    // Number of lines of which the earliest tells how far the log has come. A clock that was wrong
    // for a line or two then makes no others late.
    static constexpr std::size_t lines_of_progress = 16;
    // Most lines that wait for earlier ones.
    static constexpr std::size_t most_lines = 131'072;
    // Most bytes of memory that they take, but for one block and the lines of one second.
    static constexpr std::size_t most_bytes = std::size_t{128} * 1024 * 1024;
    // Most bytes of a bad line that are kept.
    static constexpr std::size_t most_shown = 200;

    // Opens a log. `described` is the format of --fields, if there is one.
    // Ownership: `wanted` outlives this object.
    ordered_log(
        std::string path, const wanted_parts& wanted, const std::optional<json_format>& described
    );

    // Returns the next request, or null at the end. It is valid until pop().
    const logged_request* front();

    // Requires: front() returned a request.
    void pop()
    {
        memory_.release(ready_.requests[next_].where);
        ++next_;
    }

    const line_counts& counts() const { return counts_; }

    // Returns why the log cannot be read, in a sentence for people; empty if it can.
    const std::string& complaint() const { return complaint_; }

    // Returns the name of its format; empty if it has no lines.
    std::string_view format() const
    {
        return reader_ == nullptr ? std::string_view{} : reader_->name();
    }

    // Returns its name for people.
    std::string shown_name() const { return path_ == "-" ? "stdin" : path_; }

    const compressed_bytes& bytes() const { return lines_.bytes(); }

private:
    struct kept_request {
        logged_request request;
        line_memory::block* where;
    };

    // `second` has the requests of one second of the log.
    struct second {
        std::vector<kept_request> requests;
        bool sorted = true;
    };

    std::string path_;
    const wanted_parts& wanted_;
    log_lines lines_;
    line_counts counts_;
    std::string complaint_;

    std::unique_ptr<line_reader> reader_;
    part_set held_ = 0;
    // First lines, until all of them are read.
    std::vector<std::string> first_lines_;
    std::size_t first_line_ = 0;
    // Lines that were read so far, blank ones included.
    std::uint64_t lines_read_ = 0;

    line_memory memory_;
    std::vector<part_text> parts_;
    std::map<std::int64_t, second> waiting_;
    std::size_t waiting_lines_ = 0;
    // The second whose requests are returned, and how many were.
    second ready_;
    std::size_t next_ = 0;
    // Moment of the last request that became ready.
    base::duration latest_{0};
    // Earliest second of the last whole group of lines_of_progress lines, and of those read since.
    std::int64_t reached_ = 0;
    std::int64_t earliest_since_ = std::numeric_limits<std::int64_t>::max();
    std::size_t lines_since_ = 0;
    bool at_end_ = false;
    // The second that got the last line, or null.
    second* recent_ = nullptr;
    std::int64_t recent_second_ = 0;
    // Memory for the requests of further seconds.
    std::vector<std::vector<kept_request>> spare_;

    void begin(const std::optional<json_format>& described);
    bool read_line();
    bool read_request(std::span<const char> line);
    void add(std::span<const char> line, bool ended);
    void insert(logged_request r, line_memory::block* where);
    void note_bad(std::span<const char> line);
    void note_progress(std::int64_t number);
    second& second_at(std::int64_t number);
    bool make_ready();
};

}  // namespace gateway::replay
