#include "gateway/admin/stream/sections.hpp"

#include "gateway/admin/json_text.hpp"

namespace gateway::admin {

void sections::set(
    std::string_view name, audience for_whom, const boost::json::value& now, std::uint64_t number
)
{
    section& s = all_[static_cast<std::size_t>(for_whom)][std::string{name}];
    std::string text = json_text(now);
    if (text != s.text) {
        s = {std::move(text), number};
    }
}

void sections::append_changed(std::string& to, audience for_whom, std::uint64_t seen) const
{
    const char* before = ",\"state\":{\"";
    const char* after = "";
    for (const auto& [name, s] : all_[static_cast<std::size_t>(for_whom)]) {
        if (s.changed > seen) {
            to.append(before).append(name).append("\":").append(s.text);
            before = ",\"";
            after = "}";
        }
    }
    to += after;
}

}  // namespace gateway::admin
