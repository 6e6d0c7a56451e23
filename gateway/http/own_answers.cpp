#include "gateway/http/own_answers.hpp"

namespace gateway::http {

namespace {

std::string_view limit_of(const own_answer& answer)
{
    return answer.limits.reports.empty() ? std::string_view{} : answer.limits.reports.front().name;
}

}  // namespace

bool own_answers::texts::are_of(const own_answer& answer) const
{
    return detail == answer.detail && date == answer.date && limit == limit_of(answer);
}

own_answers::ingredients own_answers::ingredients_of(const own_answer& answer)
{
    ingredients all;
    all.status = answer.status;
    all.close = answer.close;
    all.keep_alive_1_0 = answer.keep_alive_1_0;
    all.head_only = answer.head_only;
    all.retry_after = seconds_up(answer.retry_after);
    all.options = answer.limits.options;
    if (!answer.limits.reports.empty()) {
        const limit_report& r = answer.limits.reports.front();
        all.allowed = r.decision.allowed;
        all.burst = r.limit->burst();
        all.capacity = r.limit->in_nanoseconds().capacity();
        all.remaining = r.decision.remaining;
        all.reset = seconds_up(r.decision.reset_after);
        if (answer.limits.options.reset_as_epoch) {
            all.reset_at = seconds_up(answer.limits.unix_now + r.decision.reset_after);
        }
    }
    return all;
}

std::size_t own_answers::append(const own_answer& answer, std::string& out)
{
    if (answer.limits.reports.size() > 1 || !answer.extra.empty()) {
        return append_own_answer(answer, out);
    }
    const ingredients wanted = ingredients_of(answer);
    if (wanted != ingredients_ || !texts_.are_of(answer)) {
        answer_.clear();
        content_ = append_own_answer(answer, answer_);
        ingredients_ = wanted;
        texts_.detail = answer.detail;
        texts_.date = answer.date;
        texts_.limit = limit_of(answer);
    }
    out += answer_;
    return content_;
}

}  // namespace gateway::http
