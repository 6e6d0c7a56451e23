#include "config/print.hpp"

#include "config/printing.hpp"
#include "config/sections.hpp"

namespace gateway::config {

std::string print(const settings& s)
{
    draft d;
    d.result = s;
    d.policy = *s.policy;
    std::string out;
    printing lines{out, {.secret_paths = s.secret_paths}};
    describe(lines, d);
    return out;
}

}  // namespace gateway::config
