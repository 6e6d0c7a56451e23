// Input: what a connection begins with.
#include "gateway/base/proxy_header.hpp"

#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using base::proxy_header;
    using fuzz::require;
    using verdict = proxy_header::verdict;

    const std::string bytes(data, data + size);
    const proxy_header all = base::read_proxy_header(bytes);
    require(all.is != verdict::incomplete || size < proxy_header::max_bytes);
    if (all.is == verdict::whole) {
        require(all.size <= size && all.size <= proxy_header::max_bytes);
        require(base::read_proxy_header(base::proxy_header_of(all.ends)).ends == all.ends);
    }
    // Nothing that was decided changes with what comes later.
    verdict before = verdict::incomplete;
    for (std::size_t cut = 0; cut <= std::min(size, proxy_header::max_bytes); ++cut) {
        const proxy_header part = base::read_proxy_header(std::string_view(bytes).substr(0, cut));
        require(before == verdict::incomplete || part.is == before);
        require(part.is != verdict::whole || (part.size == all.size && part.ends == all.ends));
        require((part.is == verdict::whole) == (all.is == verdict::whole && cut >= all.size));
        before = part.is;
    }
    return 0;
}
