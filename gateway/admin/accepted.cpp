#include "gateway/admin/accepted.hpp"

#include "gateway/base/text.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace gateway::admin {

namespace {

namespace beast = boost::beast;

// True if the quality has no digit but zeros, as in "q=0.000".
bool is_zero(std::string_view quality)
{
    return quality.find_first_of("123456789") == std::string_view::npos;
}

bool is_openmetrics(std::string_view range)
{
    bool is_type = false;
    bool refused = false;
    base::for_each_element(range, ';', [&](std::string_view part) {
        const bool is_quality = base::equal_ignoring_case(part.substr(0, 2), "q=");
        is_type = is_type || base::equal_ignoring_case(part, "application/openmetrics-text");
        refused = refused || (is_quality && is_zero(part));
    });
    return is_type && !refused;
}

}  // namespace

bool accepts_gzip(std::string_view codings)
{
    bool by_any = false;
    for (const auto& [coding, parameters] :
         beast::http::ext_list{{codings.data(), codings.size()}}) {
        bool refused = false;
        for (const auto& [name, value] : parameters) {
            // Beast 1.81 gives an element that has no parameters those of the one before it.
            const bool is_its_own = name.data() > coding.data();
            refused = refused || (is_its_own && beast::iequals(name, "q") &&
                                  is_zero({value.data(), value.size()}));
        }
        // "*" stands for the codings that are not named (RFC 9110 §12.5.3).
        if (beast::iequals(coding, "gzip")) {
            return !refused;
        }
        by_any = by_any || (coding == "*" && !refused);
    }
    return by_any;
}

bool accepts_openmetrics(std::string_view types)
{
    bool accepts = false;
    base::for_each_element(types, ',', [&accepts](std::string_view range) {
        accepts = accepts || is_openmetrics(range);
    });
    return accepts;
}

}  // namespace gateway::admin
