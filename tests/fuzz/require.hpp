// What a fuzzer holds to be true: unlike assert(), also in release builds.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace gateway::fuzz {

// The built-in functions stand for std::source_location, which clang 14 does not have.
inline void require(bool claim, const char* file = __builtin_FILE(), int line = __builtin_LINE())
{
    if (!claim) {
        std::fprintf(stderr, "%s:%d: the claim is false\n", file, line);
        std::abort();
    }
}

}  // namespace gateway::fuzz
