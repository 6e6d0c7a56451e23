#include "config/problem.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/suggest.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::size_t longest_quote = 60;

std::string one_line(std::string text)
{
    std::replace_if(text.begin(), text.end(), base::is_control, '?');
    return text;
}

std::vector<problem> sorted(std::vector<problem> all)
{
    std::stable_sort(all.begin(), all.end(), [](const problem& a, const problem& b) {
        return a.at < b.at;
    });
    return all;
}

std::string all_lines(std::string_view file_name, const std::vector<problem>& problems)
{
    std::string text;
    for (const problem& p : problems) {
        text += text.empty() ? "" : "\n";
        text += to_text(p, file_name);
    }
    return text;
}

}  // namespace

std::string to_text(const problem& p, std::string_view file_name)
{
    std::string text{file_name};
    if (p.at.line > 0) {
        text += ':' + std::to_string(p.at.line) + ':' + std::to_string(p.at.column);
    }
    text += ": ";
    if (!p.path.empty()) {
        text += p.path + ": ";
    }
    return one_line(text + p.message);
}

void findings::problem(place at, std::string path, std::string message)
{
    if (full()) {
        more_ = true;
        return;
    }
    problems_.push_back({at, std::move(path), secrets_.masked(std::move(message))});
}

void findings::warning(place at, std::string path, std::string message)
{
    if (warnings_.size() < max_problems) {
        warnings_.push_back({at, std::move(path), secrets_.masked(std::move(message))});
    }
}

std::string findings::suggestion(std::string_view word, std::span<const std::string_view> known)
{
    if (full() || known.size() > max_compared - compared_) {
        return {};
    }
    compared_ += known.size();
    return base::suggestion(word, known);
}

std::vector<problem> findings::problems() const
{
    std::vector<config::problem> all = sorted(problems_);
    if (more_) {
        all.push_back({{}, {}, "more than " + std::to_string(max_problems) + " problems"});
    }
    return all;
}

std::vector<problem> findings::warnings() const
{
    return sorted(warnings_);
}

config_error::config_error(std::string_view file_name, std::vector<problem> problems)
    : std::runtime_error(all_lines(file_name, problems)), problems_(std::move(problems))
{}

std::string quoted(std::string_view text)
{
    if (text.find("://") != std::string_view::npos) {
        return "a URL";
    }
    const bool cut = text.size() > longest_quote;
    return '"' + one_line(std::string{text.substr(0, longest_quote)}) + (cut ? "...\"" : "\"");
}

}  // namespace gateway::config
