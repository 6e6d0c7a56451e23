// What a Redis server might send, cut anywhere: never more than one small reply is kept, and what
// is read depends on the bytes alone, not on how they were cut.
#include "gateway/store/redis/protocol/complaint.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/remote/reply_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace gateway::store::redis;

// As many as a call has, of any kind.
std::vector<gateway::store::simple_charges> any_questions()
{
    return std::vector<gateway::store::simple_charges>(gateway::store::call::max_questions);
}

// Usual ones: of three buckets, twice each.
std::vector<gateway::store::simple_charges> simple_charges()
{
    return {{.times = 2, .cost = 3, .interval = 1'000'000, .burst = 10, .keys = 3}};
}

// As a reply to a call whose questions all had so many charges.
std::string read_take(
    const reply& r, const std::vector<gateway::store::simple_charges>& asked, std::size_t charges
)
{
    if (!call_number(r)) {
        return "";
    }
    using kind = gateway::store::call_results::kind;
    std::string seen;
    gateway::store::reply_parser results{r.all(), asked};
    seen += std::to_string(results.grant_epoch());
    gateway::store::answer a;
    for (kind k = kind::answer; k != kind::garbage && !results.ended();) {
        k = results.next(charges, a);
        seen += "acfg"[static_cast<int>(k)];
    }
    return seen;
}

std::string read_all(std::span<const char> bytes, std::size_t piece)
{
    reply_reader reader;
    reply r;
    std::string seen;
    auto next = reply_reader::next::nothing;
    while (!bytes.empty() && next != reply_reader::next::garbage) {
        const auto now = bytes.first(std::min(piece, bytes.size()));
        bytes = bytes.subspan(now.size());
        reader.feed(now);
        for (next = reader.read(r); next == reply_reader::next::reply; next = reader.read(r)) {
            seen += std::to_string(static_cast<int>(r.what)) + "/" + std::to_string(r.count) + " ";
            if (r.what == reply::kind::error) {
                seen += std::to_string(static_cast<int>(classify(r.text()).why));
            }
            for (std::size_t charges = 1; charges <= gateway::store::max_charges; ++charges) {
                seen += read_take(r, any_questions(), charges) +
                        read_take(r, simple_charges(), charges);
            }
        }
    }
    return seen + (next == reply_reader::next::garbage ? "garbage" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::span bytes{
        reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 32 * 1024)};
    if (read_all(bytes, 16 * 1024) != read_all(bytes, 7)) {
        std::abort();
    }
    return 0;
}
