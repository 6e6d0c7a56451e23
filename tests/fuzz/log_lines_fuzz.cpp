// Input: an access log of any format, also compressed. In front of a first NUL stands what --fields
// says, if it says anything. What is read depends on the bytes alone: not on how they were cut, nor
// on the lines before.
#include "gateway/replay/logs/combined_reader.hpp"
#include "gateway/replay/logs/haproxy_reader.hpp"
#include "gateway/replay/logs/json_reader.hpp"
#include "gateway/replay/logs/ordered_log.hpp"
#include "gateway/replay/logs/own_text_reader.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace gateway;
using namespace gateway::replay;
using namespace std::chrono_literals;
using fuzz::require;
using source = policy::key_part::source;

constexpr std::size_t most_bytes = 16 * 1024;
// Each of them may become a thousand.
constexpr std::size_t most_compressed_bytes = 512;
constexpr std::size_t most_pieces = 60;
constexpr std::size_t most_lines = 8;

wanted_parts some_parts()
{
    wanted_parts wanted;
    for (const auto& [from, name] :
         {std::pair{source::header, "user-agent"},
          {source::header, "x-key"},
          {source::cookie, "sid"},
          {source::query, "q"},
          {source::jwt, "sub"},
          {source::host, ""}}) {
        wanted.add({.from = from, .name = name, .text = {}});
    }
    policy::policy p;
    p.log_fields.push_back({"tenant", {.from = source::jwt, .name = "sub", .text = {}}});
    wanted.add(p);
    return wanted;
}

using readers = std::vector<std::unique_ptr<line_reader>>;

readers all_readers(const wanted_parts& wanted, const std::optional<json_format>& described)
{
    readers all;
    for (const auto& format : {own_json(wanted), caddy_json(wanted), traefik_json(wanted)}) {
        all.push_back(std::make_unique<json_reader>(format, wanted));
    }
    if (described) {
        all.push_back(std::make_unique<json_reader>(*described, wanted));
    }
    all.push_back(std::make_unique<own_text_reader>(wanted));
    all.push_back(std::make_unique<combined_reader>(wanted));
    all.push_back(std::make_unique<haproxy_reader>(wanted));
    return all;
}

std::string text_of(const logged_request& r, std::span<const part_text> parts)
{
    std::string all;
    for (const auto number :
         {static_cast<std::int64_t>(r.at.count()),
          static_cast<std::int64_t>(r.duration.count()),
          std::int64_t{r.status},
          r.cost,
          static_cast<std::int64_t>(r.known),
          static_cast<std::int64_t>(r.was),
          static_cast<std::int64_t>(r.client_is_peer) * 2 + (r.refused_early ? 1 : 0)}) {
        all += std::to_string(number) + ' ';
    }
    all += r.client.to_string();
    for (const std::string_view text : {r.method, r.target, r.host, r.route, r.costs}) {
        all.append("|").append(text);
    }
    for (const part_text& p : parts) {
        all.append("|" + std::to_string(p.part) + "=").append(p.text);
    }
    return all + '\n';
}

bool lies_in(std::string_view text, std::span<const char> line)
{
    return text.empty() || text == "GET" || text == "/" ||
           (text.data() >= line.data() && text.data() + text.size() <= line.data() + line.size());
}

// Holds a request to the bounds of its fields.
void check(
    const logged_request& r,
    std::span<const part_text> parts,
    std::span<const char> line,
    const wanted_parts& wanted
)
{
    constexpr base::duration earliest = -24h * 30;
    constexpr base::duration latest = 24h * 365 * 231;
    require(r.at > earliest && r.at < latest);
    require(r.duration >= 0s && r.duration <= longest_duration);
    require(r.cost >= 0 && r.parts.empty());
    require(r.status >= 0 && r.status <= 999);
    const part_set all = bit(wanted.all().size()) - 1;
    require((r.known & ~(all | knows_cost | knows_duration)) == 0);
    for (const std::string_view text : {r.method, r.target, r.host, r.route, r.costs}) {
        require(lies_in(text, line));
    }
    for (const part_text& p : parts) {
        require(p.part < wanted.all().size() && lies_in(p.text, line));
        require((r.known & bit(p.part)) != 0);
    }
}

// Returns what the reader makes of a line, which it may change; "bad" if nothing.
std::string read_line(line_reader& reader, std::string_view text, const wanted_parts& wanted)
{
    // A copy of the exact size, so that a sanitizer sees a read past the end.
    std::vector<char> line(text.begin(), text.end());
    logged_request r;
    std::vector<part_text> parts;
    if (!reader.read(line, r, parts)) {
        return "bad";
    }
    check(r, parts, line, wanted);
    return text_of(r, parts);
}

void read_lines(
    std::string_view text, const wanted_parts& wanted, const std::optional<json_format>& described
)
{
    const readers used = all_readers(wanted, described);
    for (std::size_t n = 0; n < most_lines && !text.empty(); ++n) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const readers fresh = all_readers(wanted, described);
        for (std::size_t i = 0; i < used.size(); ++i) {
            require(
                read_line(*used[i], text.substr(0, end), wanted) ==
                read_line(*fresh[i], text.substr(0, end), wanted)
            );
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

struct log_result {
    std::string seen;
    // Reason why it could not be read to its end, or empty.
    std::string complaint;

    bool operator==(const log_result&) const = default;
};

// Reads the log of a descriptor, and closes that.
log_result read_log(int fd, const wanted_parts& wanted, const std::optional<json_format>& described)
{
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    ordered_log log(path, wanted, described);
    ::close(fd);
    std::string all;
    base::duration before = base::duration::min();
    for (const logged_request* r = log.front(); r != nullptr; r = log.front()) {
        require(r->at >= before);
        before = r->at;
        all += text_of(*r, r->parts);
        log.pop();
    }
    const line_counts& counts = log.counts();
    require(counts.bad <= counts.lines && counts.first_bad.has_value() == (counts.bad > 0));
    for (const std::uint64_t count : {counts.lines, counts.bad, counts.late}) {
        all += std::to_string(count) + ' ';
    }
    all += counts.first_bad ? std::to_string(counts.first_bad->line) + counts.first_bad->text : "";
    const std::string& complaint = log.complaint();
    return {all, complaint.substr(complaint.starts_with(path) ? path.size() : 0)};
}

int in_memory(std::string_view text)
{
    const int fd = ::memfd_create("log", MFD_CLOEXEC);
    require(fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return fd;
}

// Returns a pipe that gives the text in pieces of that size, one for each read.
int in_pieces(std::string_view text, std::size_t piece)
{
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_DIRECT | O_CLOEXEC | O_NONBLOCK) == 0);
    require(::fcntl(ends[1], F_SETPIPE_SZ, 256 * 1024) > 0);
    while (!text.empty()) {
        const std::string_view now = text.substr(0, piece);
        require(::write(ends[1], now.data(), now.size()) == static_cast<ssize_t>(now.size()));
        text.remove_prefix(now.size());
    }
    // Opened before the writing end is closed, as a pipe without one cannot be opened.
    const std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    require(fd >= 0);
    ::close(ends[0]);
    ::close(ends[1]);
    return fd;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::string_view text{reinterpret_cast<const char*>(data), std::min(size, most_bytes)};
    wanted_parts wanted = some_parts();
    std::optional<json_format> described;
    const std::size_t nul = text.find('\0');
    const bool compressed = text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd");
    if (compressed) {
        text = text.substr(0, most_compressed_bytes);
    } else if (nul != text.npos) {
        std::string complaint;
        described = described_json(text.substr(0, nul), wanted, complaint);
        require(described.has_value() == complaint.empty());
        text.remove_prefix(nul + 1);
    }
    read_lines(text, wanted, described);
    const log_result whole = read_log(in_memory(text), wanted, described);
    const std::size_t least = text.size() / most_pieces + 1;
    for (const std::size_t piece : {least, least + 6}) {
        const log_result cut = read_log(in_pieces(text, piece), wanted, described);
        // More or less of damaged data can be read before the damage shows.
        const bool is_damaged = compressed && !whole.complaint.empty() && !cut.complaint.empty();
        require(is_damaged || cut == whole);
    }
    return 0;
}
