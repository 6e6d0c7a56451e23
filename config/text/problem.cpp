#include "config/text/problem.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/suggest.hpp"

#include <algorithm>
#include <tuple>

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
        return std::tuple{a.at.file, a.at} < std::tuple{b.at.file, b.at};
    });
    return all;
}

template <class NameOf>
std::string all_lines(const std::vector<problem>& problems, NameOf name_of)
{
    std::string text;
    for (const problem& p : problems) {
        text += text.empty() ? "" : "\n";
        text += to_text(p, name_of(p));
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

int findings::add_file(std::string name)
{
    files_.push_back(std::move(name));
    return static_cast<int>(files_.size()) - 1;
}

std::string findings::where(place other, place here) const
{
    const std::string line = std::to_string(other.line);
    return other.file == here.file ? "line " + line
                                   : files_[static_cast<std::size_t>(other.file)] + ':' + line;
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
    : std::runtime_error(all_lines(problems, [&](const problem&) { return file_name; })),
      problems_(std::move(problems))
{}

config_error::config_error(const std::vector<std::string>& files, std::vector<problem> problems)
    : std::runtime_error(all_lines(
          problems, [&](const problem& p) { return files[static_cast<std::size_t>(p.at.file)]; }
      )),
      problems_(std::move(problems))
{}

std::string quote(std::string_view text)
{
    if (text.find("://") != std::string_view::npos) {
        return "a URL";
    }
    const bool cut = text.size() > longest_quote;
    return '"' + one_line(std::string{text.substr(0, longest_quote)}) + (cut ? "...\"" : "\"");
}

}  // namespace gateway::config
