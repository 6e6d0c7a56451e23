// Input: the body of a call, whole or cut: a prefix and a message from Envoy. The rest of it,
// whatever the prefix says, is also decoded as a message.
#include "gateway/envoy/rate_limit_request.hpp"

#include "gateway/http/grpc/grpc.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/envoy/messages.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace gateway;
using namespace gateway::envoy;
using fuzz::require;

bool within(std::string_view part, std::string_view whole)
{
    return part.empty() || (part.data() >= whole.data() &&
                            part.data() + part.size() <= whole.data() + whole.size());
}

// Writes the message anew, as far as it is known.
std::string written(const rate_limit_request& r)
{
    using namespace envoy::testing;
    std::string all = text(1, r.domain) + number(3, r.hits_addend);
    for (const descriptor& d : r.descriptors) {
        std::string inner;
        for (const descriptor_entry& e : r.entries_of(d)) {
            inner += entry(e.key, e.value);
        }
        if (d.limit) {
            const auto unit = static_cast<std::uint64_t>(d.limit->unit);
            inner += text(2, number(1, d.limit->requests_per_unit) + number(2, unit));
        }
        if (d.hits) {
            inner += text(3, number(1, *d.hits));
        }
        all += text(2, d.refunds ? inner + number(4, 1) : inner);
    }
    return all;
}

void check_message(std::string_view message)
{
    static rate_limit_request r;  // used again, as a worker does
    if (!decode(message, r).empty()) {
        return;
    }
    require(r.descriptors.size() <= max_descriptors && within(r.domain, message));
    for (const descriptor& d : r.descriptors) {
        require(d.entry_count >= 1 && d.entry_count <= max_entries);
        for (const descriptor_entry& e : r.entries_of(d)) {
            require(!e.key.empty() && e.key.size() <= max_key_bytes && within(e.key, message));
            require(e.value.size() <= max_value_bytes && within(e.value, message));
        }
    }
    const std::string again = written(r);
    rate_limit_request same;
    if (again.size() <= max_request_bytes) {
        require(decode(again, same).empty() && written(same) == again);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using state = http::grpc_body::state;
    const std::string body(data, data + size);
    const http::grpc_body whole = http::read_grpc_body(body, true, max_request_bytes);
    require(whole.is != state::incomplete);
    require((whole.is == state::refused) == (whole.status != http::grpc_status::ok));
    const http::grpc_body open = http::read_grpc_body(body, false, max_request_bytes);
    require(open.is != state::whole && (open.is != state::refused || whole.is == state::refused));
    if (whole.is == state::whole) {
        check_message(whole.message);
    }
    check_message(std::string_view{body}.substr(std::min(size, http::grpc_prefix_size)));
    return 0;
}
