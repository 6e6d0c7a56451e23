#include "gateway/store/redis/protocol/complaint.hpp"

#include <array>

namespace gateway::store::redis {

namespace {

bool begins(std::string_view text, std::string_view word)
{
    return text.substr(0, word.size()) == word &&
           (text.size() == word.size() || text[word.size()] == ' ');
}

struct known_error {
    std::string_view word;
    complaint means;
};

constexpr std::array known_errors{
    known_error{"NOSCRIPT", {.noscript = true}},
    known_error{"LOADING", {.why = failure::loading}},
    known_error{"BUSY", {.why = failure::loading}},
    known_error{"MASTERDOWN", {.why = failure::loading}},
    known_error{"CLUSTERDOWN", {.why = failure::loading}},
    known_error{"TRYAGAIN", {.why = failure::loading}},
    known_error{"READONLY", {.reconnect = true, .why = failure::readonly}},
    known_error{"NOREPLICAS", {.why = failure::readonly}},
    known_error{"MISCONF", {.why = failure::readonly}},
    known_error{"OOM", {.why = failure::readonly}},
    known_error{"NOAUTH", {.reconnect = true, .why = failure::auth}},
    known_error{"WRONGPASS", {.reconnect = true, .why = failure::auth}},
    known_error{"NOPERM", {.why = failure::auth}},
    known_error{"WRONGTYPE", {.why = failure::corrupt}},
};

constexpr complaint unknown_error{.why = failure::config};  // MOVED, ASK, CROSSSLOT, and the rest

}  // namespace

complaint classify(std::string_view error)
{
    for (const known_error& k : known_errors) {
        if (begins(error, k.word)) {
            return k.means;
        }
    }
    if (begins(error, "ERR max number of clients")) {
        return {.reconnect = true, .why = failure::unreachable};
    }
    if (!begins(error, "ERR")) {
        return unknown_error;
    }
    // Servers up to 6.2 wrap the error of a command in a script: "ERR Error running script ...:
    // -OOM ...".
    for (const known_error& k : known_errors) {
        for (std::size_t at = error.find(k.word); at != std::string_view::npos;
             at = error.find(k.word, at + 1)) {
            if ((error[at - 1] == '-' || error[at - 1] == ' ') &&
                begins(error.substr(at), k.word)) {
                return k.means;
            }
        }
    }
    return unknown_error;
}

failure classify_login(std::string_view error)
{
    const failure why = classify(error).why;
    return why == failure::config ? failure::auth : why;
}

std::string quotable(std::string_view error, std::string_view password)
{
    constexpr std::size_t most = 120;
    std::string words(error.substr(0, error.find(", with args")));
    const std::size_t size = password.size();
    for (std::size_t at = words.find(password); size > 0 && at != std::string::npos;
         at = words.find(password, at)) {
        words.replace(at, size, "***");
        at += 3;
    }
    if (words.size() > most) {
        words.resize(most);
        words += "...";
    }
    return words;
}

}  // namespace gateway::store::redis
