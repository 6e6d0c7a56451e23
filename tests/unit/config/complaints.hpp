// Mistakes in a file, and the complaints about them.
#pragma once

#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gateway::config {

struct bad {
    std::string text;      // the section with the mistake, which comes first in the file
    std::string expected;  // how a line of the complaint begins
};

// The section replaces its namesake in the sample, and stands on line 1.
inline std::string file_with(const std::string& section)
{
    sample s;
    std::string* const parts[] = {&s.listeners, &s.stores, &s.limits, &s.routes, &s.upstreams};
    const std::string name = section.substr(0, section.find(':') + 1);
    for (std::string* part : parts) {
        if (part->starts_with(name)) {
            part->clear();
        }
    }
    s.rest = section + "\n";
    return s.text();
}

inline void expect_complaints(const std::vector<bad>& table)
{
    for (const bad& b : table) {
        const std::string problems = problems_of(file_with(b.text));
        EXPECT_THAT("\n" + problems, testing::HasSubstr("\n" + b.expected)) << b.text;
    }
}

}  // namespace gateway::config
