// `admin_body` reads the JSON body of a call strictly. A member that is missing, unknown, out of
// range or of another type is a complaint that names it. The first complaint stays. The value of a
// bad member means nothing.
#pragma once

#include "gateway/base/clock.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::admin {

class admin_body {
public:
    // Complains if the text is no JSON object, if any object in it has a name twice, or if a number
    // is too large.
    explicit admin_body(std::string_view json);

    // Functions for members that must be there.
    std::string text(std::string_view name);
    std::int64_t whole(std::string_view name, std::int64_t min, std::int64_t max);
    std::vector<std::string> texts(std::string_view name);

    // Functions for members that may be absent.
    std::optional<std::string> text_if_any(std::string_view name);
    std::int64_t whole_or(
        std::string_view name, std::int64_t standard, std::int64_t min, std::int64_t max
    );
    // Durations are written as in the configuration: "2s", "10m".
    base::duration time(std::string_view name, base::duration min, base::duration max);
    base::duration time_or(std::string_view name, base::duration standard, base::duration max);
    // Returns the members of an object of texts, in their order. A list gives one pair for each
    // text.
    std::vector<std::pair<std::string, std::string>> fields_if_any(std::string_view name);

    // Complains about a member that was read, and whose value is wrong.
    void complain(std::string_view name, std::string_view what);

    // Returns what is wrong, or an empty text.
    // Requires: every known member has been read. Any other member is a complaint.
    const std::string& complaint();

private:
    boost::json::object members_;
    // Names of the members that were read.
    std::vector<std::string_view> known_;
    std::string complaint_;

    const boost::json::value* find(std::string_view name);
    const boost::json::value* require(std::string_view name);
    std::string as_text(std::string_view name, const boost::json::value& v);
    base::duration as_time(
        std::string_view name, const boost::json::value& v, base::duration min, base::duration max
    );
    std::int64_t as_whole(
        std::string_view name, const boost::json::value& v, std::int64_t min, std::int64_t max
    );
};

}  // namespace gateway::admin
