#include "gateway/replay/logs/ordered_log.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace gateway::replay {

namespace {

std::int64_t second_of(base::duration at)
{
    return std::chrono::floor<std::chrono::seconds>(at).count();
}

constexpr std::int64_t window_seconds =
    std::chrono::duration_cast<std::chrono::seconds>(ordered_log::window).count();

}  // namespace

ordered_log::ordered_log(
    std::string path, const wanted_parts& wanted, const std::optional<json_format>& described
)
    : path_(std::move(path)), wanted_(wanted), lines_(path_)
{
    begin(described);
}

// Reads the first lines and guesses the format.
void ordered_log::begin(const std::optional<json_format>& described)
{
    while (first_lines_.size() < guessed_lines) {
        const auto line = lines_.next();
        if (!line) {
            break;
        }
        first_lines_.emplace_back(line->text.data(), line->text.size());
        first_lines_.back() += line->ended ? "\n" : "";
    }
    complaint_ = lines_.bytes().complaint();
    if (first_lines_.empty() || !complaint_.empty()) {
        at_end_ = true;
        return;
    }
    guessed_format guessed = guess_format(first_lines_, wanted_, described);
    reader_ = std::move(guessed.reader);
    held_ = guessed.held;
    if (reader_ == nullptr) {
        at_end_ = true;
        std::string first = first_lines_.front().substr(0, most_shown);
        first.erase(std::remove(first.begin(), first.end(), '\n'), first.end());
        complaint_ = shown_name() + ":1: " +
                     (described ? "no line has the members that --fields names"
                                : "this is no access log that replay knows (see gateway replay "
                                  "--help); describe JSON with --fields") +
                     ": " + first;
    }
}

const logged_request* ordered_log::front()
{
    if (next_ == ready_.requests.size() && !make_ready()) {
        return nullptr;
    }
    return &ready_.requests[next_].request;
}

// Reads on until the earliest second can have no more lines. Returns false at the end of the log.
bool ordered_log::make_ready()
{
    const auto is_settled = [this] {
        if (waiting_.empty()) {
            return false;
        }
        return reached_ - waiting_.begin()->first > window_seconds ||
               waiting_lines_ >= most_lines || memory_.bytes_in_use() >= most_bytes;
    };
    while (!at_end_ && !is_settled()) {
        at_end_ = !read_line();
    }
    if (waiting_.empty()) {
        return false;
    }
    // The memory of the second before goes to the next one.
    ready_.requests.clear();
    next_ = 0;
    recent_ = nullptr;
    std::swap(ready_, waiting_.begin()->second);
    spare_.push_back(std::move(waiting_.begin()->second.requests));
    waiting_.erase(waiting_.begin());
    auto& requests = ready_.requests;
    waiting_lines_ -= requests.size();
    if (!ready_.sorted) {
        std::stable_sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) {
            return a.request.at < b.request.at;
        });
    }
    latest_ = requests.back().request.at;
    return true;
}

bool ordered_log::read_line()
{
    ++lines_read_;
    if (first_line_ < first_lines_.size()) {
        const std::string& line = first_lines_[first_line_++];
        const bool ended = line.ends_with('\n');
        if (line.size() > (ended ? 1 : 0)) {
            add({line.data(), line.size() - (ended ? 1 : 0)}, ended);
        }
        if (first_line_ == first_lines_.size()) {
            first_lines_.clear();
            first_line_ = 0;
        }
        return true;
    }
    const auto line = lines_.next();
    if (!line) {
        complaint_ = lines_.bytes().complaint();
        return false;
    }
    if (!line->text.empty()) {
        add(line->text, line->ended);
    }
    return true;
}

// Reads a line, and keeps its request. Returns false if it is no line of the format.
bool ordered_log::read_request(std::span<const char> line)
{
    if (line.size() > log_lines::longest) {
        return false;
    }
    constexpr std::size_t most_parts = wanted_parts::most;
    constexpr std::size_t room_of_parts = most_parts * sizeof(part_text);
    static_assert(
        log_lines::longest + alignof(part_text) + room_of_parts <= line_memory::most_bytes
    );
    const std::size_t bytes =
        (line.size() + alignof(part_text)) / alignof(part_text) * alignof(part_text);
    std::byte* const to = memory_.reserve(bytes + room_of_parts);
    auto* const text = reinterpret_cast<char*>(to);
    std::memcpy(text, line.data(), line.size());
    logged_request r;
    parts_.clear();
    if (!reader_->read({text, line.size()}, r, parts_)) {
        return false;
    }
    const std::size_t count = std::min(parts_.size(), most_parts);
    auto* const parts = reinterpret_cast<part_text*>(to + bytes);
    std::uninitialized_copy_n(parts_.begin(), count, parts);
    r.parts = {parts, count};
    r.known |= held_ & ~r.hidden;
    insert(r, memory_.keep(bytes + count * sizeof(part_text)));
    return true;
}

// Adds a line. One that cannot be read and has no end is still being written: it counts as none.
void ordered_log::add(std::span<const char> line, bool ended)
{
    const bool is_good = read_request(line);
    counts_.lines += is_good || ended ? 1 : 0;
    if (!is_good && ended) {
        note_bad(line);
    }
}

void ordered_log::note_bad(std::span<const char> line)
{
    ++counts_.bad;
    if (!counts_.first_bad) {
        const std::string_view text{line.data(), std::min(line.size(), most_shown)};
        counts_.first_bad = {shown_name(), lines_read_, std::string{text}};
    }
}

ordered_log::second& ordered_log::second_at(std::int64_t number)
{
    if (recent_ != nullptr && recent_second_ == number) {
        return *recent_;
    }
    const auto [found, is_new] = waiting_.try_emplace(number);
    if (is_new && !spare_.empty()) {
        found->second.requests = std::move(spare_.back());
        spare_.pop_back();
    }
    recent_ = &found->second;
    recent_second_ = number;
    return *recent_;
}

void ordered_log::note_progress(std::int64_t number)
{
    earliest_since_ = std::min(earliest_since_, number);
    if (++lines_since_ == lines_of_progress) {
        reached_ = earliest_since_;
        earliest_since_ = std::numeric_limits<std::int64_t>::max();
        lines_since_ = 0;
    }
}

void ordered_log::insert(logged_request r, line_memory::block* where)
{
    const bool is_late = r.at < latest_;
    if (is_late) {
        ++counts_.late;
        r.at = latest_;
    }
    const std::int64_t number = second_of(r.at);
    if (!is_late) {
        note_progress(number);
    }
    second& s = second_at(number);
    s.sorted = s.sorted && (s.requests.empty() || s.requests.back().request.at <= r.at);
    s.requests.push_back({r, where});
    ++waiting_lines_;
}

}  // namespace gateway::replay
