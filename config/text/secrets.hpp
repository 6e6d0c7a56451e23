// Texts that stand elsewhere than in the configuration file: in a variable of the environment, or
// in a file of their own. They are read while the configuration is, so again at each reload, and
// are never shown.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

// Whether a text may have several lines, and tabs in them.
enum class lines { one, many };

class secrets {
public:
    // A text that stays where it is as long as the secrets, or why there is none.
    struct given {
        const std::string* text = nullptr;
        std::string complaint{};
    };

    // Files are named from the folder of this one.
    void read_beside(std::string_view file_name);

    // What the variable, or the file, holds: at most 64 KiB, without the newline at its end.
    given of_variable(const std::string& name, lines may_have);
    given of_file(const std::string& path, lines may_have);

    // Remembers that the value of a key, such as "stores.a.url", is one of them.
    void note(const std::string& path) { paths_.push_back(path); }

    const std::vector<std::string>& paths() const { return paths_; }

    // The message with *** for each of them that it quotes.
    std::string masked(std::string message) const;

private:
    std::string folder_;
    std::deque<std::string> texts_;
    std::vector<std::string> paths_;

    given keep(std::string text, const std::string& what, lines may_have);
};

}  // namespace gateway::config
