// Input: the path of a request target.
#include "gateway/policy/paths/path.hpp"

#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace gateway;
    using fuzz::require;

    const std::string path(data, data + size);
    std::string room;
    const auto result = policy::normalise_path(path, room);
    require(result.path.empty() == !result.refused_because.empty());
    if (!result.refused_because.empty()) {
        return 0;
    }
    const std::string normal(result.path);
    require(normal.starts_with('/') && normal.size() <= path.size());
    const std::string walled = normal + "/";
    for (const char* segment : {"/./", "/../"}) {
        require(walled.find(segment) == std::string::npos);
    }
    require(normal.find("//") == std::string::npos);
    require(normal.find_first_of(";\\?#") == std::string::npos);
    require(std::none_of(normal.begin(), normal.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    }));

    require(policy::normalise_path(normal, room).path == normal);
    return 0;
}
