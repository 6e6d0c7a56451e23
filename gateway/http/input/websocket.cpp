#include "gateway/http/input/websocket.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

// Protocols that all Upgrade lines of a message name together. Those that its Connection does not
// name count for nothing.
struct protocols {
    bool websocket = false;
    bool others = false;
};

protocols protocols_of(const field_list& fields)
{
    protocols found;
    for (const field& f : fields) {
        if (f.id == field_name::upgrade && f.nominated) {
            base::for_each_element(f.value, ',', [&found](std::string_view name) {
                const bool is_websocket = base::equal_ignoring_case(name, "websocket");
                found.websocket = found.websocket || is_websocket;
                found.others = found.others || (!is_websocket && !name.empty());
            });
        }
    }
    return found;
}

constexpr auto base64_chars = base::alphanumeric_and("+/");

// True if the value is 16 bytes in base64.
bool is_key(std::string_view value)
{
    return value.size() == 24 && value.ends_with("==") &&
           std::all_of(value.begin(), value.end() - 2, [](char c) {
               return base64_chars[static_cast<unsigned char>(c)];
           });
}

bool has_handshake_fields(const field_list& fields)
{
    int keys = 0;
    int versions = 0;
    for (const field& f : fields) {
        if (base::equal_ignoring_case(f.name, "sec-websocket-key")) {
            keys += is_key(f.value) ? 1 : 2;
        } else if (base::equal_ignoring_case(f.name, "sec-websocket-version")) {
            ++versions;
        }
    }
    return keys == 1 && versions == 1;
}

}  // namespace

bool asks_for_websocket(const request_head& head)
{
    return head.method == "GET" && !head.is_1_0() && head.body.is_empty() &&
           protocols_of(head.fields).websocket && has_handshake_fields(head.fields);
}

bool grants_websocket(const response_head& head)
{
    const protocols granted = protocols_of(head.fields);
    return head.status == 101 && !head.is_1_0() && granted.websocket && !granted.others;
}

}  // namespace gateway::http
