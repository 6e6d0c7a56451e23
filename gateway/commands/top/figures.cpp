#include "gateway/commands/top/figures.hpp"

#include <boost/json.hpp>

#include <initializer_list>
#include <utility>

namespace gateway {

namespace {

namespace json = boost::json;

double number_of(const json::value* v)
{
    return v != nullptr && v->is_number() ? v->to_number<double>() : 0;
}

// Returns the value under these names, each of which is a member of the object before it, or null.
const json::value* find(const json::object& in, std::initializer_list<std::string_view> names)
{
    const json::object* object = &in;
    const json::value* found = nullptr;
    for (const std::string_view name : names) {
        found = object == nullptr ? nullptr : object->if_contains(name);
        object = found == nullptr ? nullptr : found->if_object();
    }
    return found;
}

double sum_of(const json::object& second)
{
    double sum = 0;
    const json::value* const requests = second.if_contains("requests");
    if (requests != nullptr && requests->is_object()) {
        for (const auto& member : requests->get_object()) {
            sum += number_of(&member.value());
        }
    }
    return sum;
}

// Returns the mean of a number over the seconds; 0 if there are none.
template <typename Number>
double mean_of(const std::deque<json::object>& seconds, Number number)
{
    double sum = 0;
    for (const json::object& s : seconds) {
        sum += number(s);
    }
    return seconds.empty() ? 0 : sum / static_cast<double>(seconds.size());
}

// Returns the figure of the last second that has it, or null.
template <typename Find>
const json::value* last_of(const std::deque<json::object>& seconds, Find find_in)
{
    for (auto s = seconds.rbegin(); s != seconds.rend(); ++s) {
        if (const json::value* const found = find_in(*s)) {
            return found;
        }
    }
    return nullptr;
}

}  // namespace

bool top_figures::add(std::string_view data)
{
    json::error_code bad;
    json::value event = json::parse(data, bad);
    if (bad || !event.is_object() || !event.get_object().contains("at")) {
        return false;
    }
    json::object second = std::move(event.get_object());
    now_ = static_cast<std::int64_t>(number_of(second.if_contains("at")));
    json::value* const fresh = second.if_contains("rejections");
    if (fresh != nullptr && fresh->is_array()) {
        for (const json::value& one : fresh->get_array()) {
            rejections_.push_front(one.is_object() ? one.get_object() : json::object{});
        }
    }
    json::value* const state = second.if_contains("state");
    if (state != nullptr && state->is_object()) {
        for (auto& member : state->get_object()) {
            state_[member.key()] = std::move(member.value());
        }
    }
    requests_.push_back(sum_of(second));
    seconds_.push_back(std::move(second));
    const auto trim = [](auto& all, std::size_t most) {
        while (all.size() > most) {
            all.pop_front();
        }
    };
    trim(seconds_, window);
    trim(requests_, length);
    while (rejections_.size() > most_rejections) {
        rejections_.pop_back();
    }
    return true;
}

double top_figures::rate(std::string_view kind, std::string_view name, std::string_view count) const
{
    return mean_of(seconds_, [&](const json::object& s) {
        return number_of(find(s, {kind, name, count}));
    });
}

double top_figures::request_rate(std::string_view verdict) const
{
    return mean_of(seconds_, [&](const json::object& s) {
        return number_of(find(s, {"requests", verdict}));
    });
}

double top_figures::request_rate() const
{
    return mean_of(seconds_, sum_of);
}

const json::value* top_figures::latest(
    std::string_view kind, std::string_view name, std::string_view figure
) const
{
    return last_of(seconds_, [&](const json::object& s) { return find(s, {kind, name, figure}); });
}

const json::value* top_figures::latency(std::string_view figure) const
{
    return last_of(seconds_, [&](const json::object& s) { return find(s, {"latency", figure}); });
}

std::vector<const json::object*> top_figures::rows(std::string_view section) const
{
    std::vector<const json::object*> objects;
    const json::value* const found = state_.if_contains(section);
    if (found != nullptr && found->is_array()) {
        for (const json::value& row : found->get_array()) {
            if (row.is_object()) {
                objects.push_back(&row.get_object());
            }
        }
    }
    return objects;
}

}  // namespace gateway
