// `top_figures` keeps what the stream has sent, as far as `gateway top` shows it.
#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace gateway {

class top_figures {
public:
    // Seconds over which rates are means.
    static constexpr std::size_t window = 10;
    // Most rejections that are kept.
    static constexpr std::size_t most_rejections = 100;
    // Seconds of which the number of requests is kept.
    static constexpr std::size_t length = 600;

    // Takes an event. Returns false if it is none.
    bool add(std::string_view data);

    // True if there is something to show.
    bool any() const
    {
        const boost::json::value* const p = state_.if_contains("process");
        return p != nullptr && p->is_object();
    }

    // Returns the Unix time of the last second.
    std::int64_t now() const { return now_; }

    // Returns the mean of a count per second. `kind` is "limits", "upstreams" or "stores".
    double rate(std::string_view kind, std::string_view name, std::string_view count) const;
    double request_rate(std::string_view verdict) const;
    double request_rate() const;

    // Returns the last figure within the window, or null.
    const boost::json::value* latest(
        std::string_view kind, std::string_view name, std::string_view figure
    ) const;
    const boost::json::value* latency(std::string_view figure) const;

    // Returns the rows of a section, which is a list of objects.
    std::vector<const boost::json::object*> rows(std::string_view section) const;

    const boost::json::object& process() const { return state_.at("process").as_object(); }

    // Returns rejections, the newest first.
    const std::deque<boost::json::object>& rejections() const { return rejections_; }

    // Returns the requests of each second, the oldest first.
    const std::deque<double>& requests() const { return requests_; }

private:
    std::deque<boost::json::object> seconds_;
    std::deque<double> requests_;
    std::deque<boost::json::object> rejections_;
    boost::json::object state_;
    std::int64_t now_ = 0;
};

}  // namespace gateway
