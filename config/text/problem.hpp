// `problem` is what is wrong with a configuration, and where, as one line for a person.
#pragma once

#include "config/text/secrets.hpp"

#include <compare>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

// `place` is a position in a file, counted from 1. Line 0: the file as a whole.
struct place {
    int line = 0;
    int column = 0;
    // Number of the file: 0 is the configuration itself, others are included.
    int file = 0;

    auto operator<=>(const place&) const = default;
};

// `origin` is a position, and the path of keys that leads to it.
struct origin {
    place at;
    std::string path;

    // Returns a key of the mapping that stands there.
    origin key(std::string_view name) const { return {at, path + '.' + std::string{name}}; }
};

struct problem {
    place at;

    // The path of keys, such as "limits.per_client.burst". Empty: the file as a whole.
    std::string path;

    std::string message;

    auto operator<=>(const problem&) const = default;
};

// Returns `gateway.yaml:12:5: limits.per_client.bursst: unknown key, did you mean "burst"?`.
std::string to_text(const problem& p, std::string_view file_name);

// `findings` collects problems and warnings while a file is read. It is bounded: past
// `max_problems` it only remembers that there were more, and past `max_compared` it suggests
// nothing for unknown words.
class findings {
public:
    static constexpr std::size_t max_problems = 1000;
    // Most known words that unknown ones are compared with: some hundred keys, or ten names among a
    // thousand. More would hold a reload for seconds.
    static constexpr std::size_t max_compared = 10'000;

    // Adds a file that is read from now on, and returns its number.
    int add_file(std::string name);

    // Returns the names of the files, by their numbers.
    const std::vector<std::string>& files() const { return files_; }

    // Names a position in a message about another one: "line 3", or with the name of its file.
    std::string where(place other, place here) const;

    void problem(place at, std::string path, std::string message);
    void warning(place at, std::string path, std::string message);

    void problem(const origin& of, std::string message)
    {
        problem(of.at, of.path, std::move(message));
    }

    void warning(const origin& of, std::string message)
    {
        warning(of.at, of.path, std::move(message));
    }

    bool ok() const { return problems_.empty(); }

    // Returns what to add to a complaint about an unknown word (base/suggest), within the bounds.
    std::string suggestion(std::string_view word, std::span<const std::string_view> known);

    // The texts that the file refers to but does not hold. No message shows them.
    config::secrets& secrets() { return secrets_; }

    // Both are sorted by file and position.
    std::vector<config::problem> problems() const;
    std::vector<config::problem> warnings() const;

private:
    bool full() const { return problems_.size() >= max_problems; }

    std::vector<std::string> files_;
    std::vector<config::problem> problems_;
    std::vector<config::problem> warnings_;
    config::secrets secrets_;
    std::size_t compared_ = 0;
    bool more_ = false;
};

// `config_error` carries every problem. what() has them all, one per line, without a last newline.
class config_error : public std::runtime_error {
public:
    // Takes the problems of one file.
    config_error(std::string_view file_name, std::vector<problem> problems);

    // Takes the problems of several files, which are named by their numbers.
    config_error(const std::vector<std::string>& files, std::vector<problem> problems);

    const std::vector<problem>& problems() const { return problems_; }

private:
    std::vector<problem> problems_;
};

// Returns text from the file as messages show it: quoted, short, without control characters. A URL
// is never repeated, because it may hold a password that landed under the wrong key.
std::string quote(std::string_view text);

}  // namespace gateway::config
