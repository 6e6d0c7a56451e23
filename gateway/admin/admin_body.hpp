// The JSON body of a call, read strictly: what is missing, of another type, out of range or unknown
// is a complaint that names the member. The first complaint stays; what was bad reads as empty.
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
    // A text that is no JSON object, or has a name twice in any object, is complained of.
    explicit admin_body(std::string_view json);

    // Of a member that must be there.
    std::string text(std::string_view name);
    std::int64_t whole(std::string_view name, std::int64_t min, std::int64_t max);
    std::vector<std::string> texts(std::string_view name);

    // Of a member that may be absent.
    std::optional<std::string> text_if_any(std::string_view name);
    std::int64_t whole_or(
        std::string_view name, std::int64_t standard, std::int64_t min, std::int64_t max
    );
    // As the configuration has them: "2s", "10m".
    base::duration time(std::string_view name, base::duration min, base::duration max);
    base::duration time_or(std::string_view name, base::duration standard, base::duration max);
    // Of an object with texts, in their order; of a list of texts, each.
    std::vector<std::pair<std::string, std::string>> fields_if_any(std::string_view name);

    // What is wrong, once every member has been asked for; empty: nothing.
    const std::string& complaint();

private:
    boost::json::object members_;
    // The names that were asked for.
    std::vector<std::string_view> known_;
    std::string complaint_;

    const boost::json::value* find(std::string_view name);
    const boost::json::value* require(std::string_view name);
    void complain(std::string_view name, std::string_view what);
    std::string as_text(std::string_view name, const boost::json::value& v);
    base::duration as_time(
        std::string_view name, const boost::json::value& v, base::duration min, base::duration max
    );
    std::int64_t as_whole(
        std::string_view name, const boost::json::value& v, std::int64_t min, std::int64_t max
    );
};

}  // namespace gateway::admin
