// A small valid configuration that tests break in one place at a time.
#pragma once

#include "config/load.hpp"
#include "config/text/problem.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace gateway::config {

// Each member is one top-level section, so that a test can replace it.
struct sample {
    std::string listeners = "listeners:\n  - address: 127.0.0.1:8080\n";
    std::string stores;
    std::string limits = "limits:\n  a: { key: client_ip, rate: 10/s }\n";
    std::string routes = "routes:\n  - { match: { path: / }, limits: [a], upstream: u }\n";
    std::string upstreams = "upstreams:\n  u: { servers: [echo] }\n";
    std::string rest;

    std::string text() const { return rest + stores + limits + listeners + routes + upstreams; }

    settings load() const { return load_text(text(), "f"); }
};

// All problems of the text, one per line, or "" if it loads.
inline std::string problems_of(const std::string& text)
{
    try {
        load_text(text, "f");
        return {};
    } catch (const config_error& e) {
        return e.what();
    }
}

inline std::string contents_of(const std::string& path)
{
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace gateway::config
