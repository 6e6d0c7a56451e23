#include "gateway/http/via.hpp"

#include "gateway/base/hex.hpp"

namespace gateway::http {

std::string make_via_name(std::uint32_t random)
{
    std::string name = "gateway-12345678";
    base::write_hex(random, 8, name.data() + name.size() - 8);
    return name;
}

// Counts the name anywhere in the values. It is too long to be there by chance, so the list needs
// no parsing.
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
