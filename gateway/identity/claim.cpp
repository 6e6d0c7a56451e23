#include "gateway/identity/claim.hpp"

#include "gateway/identity/web_token.hpp"

#include <boost/json/value.hpp>

namespace gateway::identity {

namespace {

namespace json = boost::json;

}  // namespace

// Looks at no value twice, because each name in front of a dot leads into another object.
const json::value* find_claim(const json::object& claims, std::string_view name)
{
    const json::string_view whole{name.data(), name.size()};
    if (const json::value* found = claims.if_contains(whole)) {
        return found;
    }
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1)) {
        const json::value* const outer = claims.if_contains(whole.substr(0, dot));
        const json::object* const inner = outer != nullptr ? outer->if_object() : nullptr;
        if (inner != nullptr) {
            if (const json::value* found = find_claim(*inner, name.substr(dot + 1))) {
                return found;
            }
        }
    }
    return nullptr;
}

std::string claim_text(const json::value& claim)
{
    switch (claim.kind()) {
        case json::kind::string: {
            const json::string& text = claim.get_string();
            return text.size() <= max_claim_bytes ? std::string{text.data(), text.size()}
                                                  : std::string{};
        }
        case json::kind::int64:
            return std::to_string(claim.get_int64());
        case json::kind::uint64:
            return std::to_string(claim.get_uint64());
        case json::kind::bool_:
            return claim.get_bool() ? "true" : "false";
        default:
            return {};
    }
}

}  // namespace gateway::identity
