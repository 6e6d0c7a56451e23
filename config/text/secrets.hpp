// `secrets` reads texts that stand elsewhere than in the configuration file: in an environment
// variable, or in a file of their own. They are read with the configuration, so again at each
// reload, and are never shown.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

// Returns the path or URL without its query, which may contain a secret.
std::string with_query_hidden(const std::string& url);

// `lines` tells if a text may have several lines, and tabs in them.
enum class lines { one, many };

class secrets {
public:
    // A text that stays where it is as long as the secrets, or the reason why there is none.
    struct given {
        const std::string* text = nullptr;
        std::string complaint{};
    };

    // Sets the file from whose folder relative paths are resolved.
    void read_beside(std::string_view file_name);

    // Returns the text of a variable or a file: at most 64 KiB, without the newline at its end.
    given of_variable(const std::string& name, lines may_have);
    given of_file(const std::string& path, lines may_have);

    // Records that the value of a key, such as "stores.a.url", is a secret.
    void note(const std::string& path) { paths_.push_back(path); }

    const std::vector<std::string>& paths() const { return paths_; }

    // Returns the message with *** for each secret that it quotes.
    std::string masked(std::string message) const;

private:
    std::string folder_;
    std::deque<std::string> texts_;
    std::vector<std::string> paths_;

    given keep(std::string text, const std::string& what, lines may_have);
};

}  // namespace gateway::config
