#include "gateway/policy/json_judgement.hpp"

#include <algorithm>

namespace gateway::policy {

namespace {

using content::content_state;
using presence = content::request_values::presence;

json_judgement judge_one(const json_match& m, const content::request_content& content)
{
    switch (content.at(m.index)) {
        case presence::present:
            return content.values->text(m.index) == m.value ? json_judgement::matches
                                                            : json_judgement::differs;
        case presence::other:
            return json_judgement::differs;
        case presence::ambiguous:
            return json_judgement::unclear;
        case presence::absent:
            break;
    }
    return content.state == content_state::begun ? json_judgement::too_long
                                                 : json_judgement::differs;
}

}  // namespace

json_judgement judge(std::span<const json_match> members, const content::request_content& content)
{
    if (members.empty()) {
        return json_judgement::matches;
    }
    switch (content.state) {
        case content_state::none:
            return json_judgement::differs;
        case content_state::unread:
            return json_judgement::unread;
        case content_state::unreadable:
            return json_judgement::unclear;
        case content_state::begun:
        case content_state::whole:
            break;
    }
    json_judgement worst = json_judgement::matches;
    for (const json_match& m : members) {
        const json_judgement one = judge_one(m, content);
        if (one == json_judgement::differs) {
            return one;
        }
        worst = std::max(worst, one);
    }
    return worst;
}

}  // namespace gateway::policy
