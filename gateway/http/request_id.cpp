#include "gateway/http/request_id.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

namespace gateway::http {

std::string_view request_id(const request_head& head)
{
    for (const field& f : head.fields) {
        if (f.id != field_name::other || !base::equal_ignoring_case(f.name, "X-Request-Id")) {
            continue;
        }
        const char* const end = f.value.data() + f.value.size();
        const bool good =
            f.value.size() <= max_request_id_bytes && skip_visible(f.value.data(), end) == end;
        return good ? f.value : std::string_view{};
    }
    return {};
}

}  // namespace gateway::http
