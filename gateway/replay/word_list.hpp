// `add_word` writes lists for people, such as "penalty, shards".
#pragma once

#include <string>
#include <string_view>

namespace gateway::replay {

inline void add_word(std::string& list, std::string_view word)
{
    list.append(list.empty() ? "" : ", ").append(word);
}

}  // namespace gateway::replay
