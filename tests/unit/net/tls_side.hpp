// One side of a connection that speaks TLS, without the connection: what it sends is kept.
#pragma once

#include "gateway/net/tls/tls_engine.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::net::testing {

struct tls_side {
    std::unique_ptr<tls_engine> engine;
    std::string out{};
    std::string heard{};

    tls_engine::result receive(std::string_view bytes)
    {
        std::vector<char> into(tls_engine::text_bytes(bytes.size()));
        std::size_t count = 0;
        const auto got = engine->receive(std::span{bytes}, into, count, out);
        heard.append(into.data(), count);
        return got;
    }

    std::string take_output() { return std::exchange(out, {}); }
};

}  // namespace gateway::net::testing
