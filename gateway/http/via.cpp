#include "gateway/http/via.hpp"

namespace gateway::http {

std::string make_via_name(std::uint32_t random)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = "gateway-";
    for (int shift = 28; shift >= 0; shift -= 4) {
        name += digits[random >> shift & 0xf];
    }
    return name;
}

// Wherever the name stands: it is too long to be there by chance, so the list needs no parsing.
std::size_t count_passes(const request_head& head, std::string_view via_name)
{
    std::size_t passes = 0;
    for (const field& f : head.fields) {
        if (f.id != field_name::via) {
            continue;
        }
        for (std::size_t at = f.value.find(via_name); at != std::string_view::npos;
             at = f.value.find(via_name, at + via_name.size())) {
            ++passes;
        }
    }
    return passes;
}

}  // namespace gateway::http
