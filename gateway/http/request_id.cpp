#include "gateway/http/request_id.hpp"

#include "gateway/http/chars.hpp"

#include <algorithm>
#include <cassert>

namespace gateway::http {

void request_id::set(std::string_view id)
{
    assert(id.size() <= max_bytes);
    size_ = id.size();
    std::copy(id.begin(), id.end(), text_.data());
}

std::string_view vouched_request_id(const request_head& head)
{
    std::string_view value;
    std::size_t fields = 0;
    for (const field& f : head.fields) {
        if (f.id == field_name::x_request_id) {
            value = f.value;
            ++fields;
        }
    }
    const char* const end = value.data() + value.size();
    const bool good = fields == 1 && value.size() <= request_id::max_bytes &&
                      skip_visible(value.data(), end) == end;
    return good ? value : std::string_view{};
}

}  // namespace gateway::http
