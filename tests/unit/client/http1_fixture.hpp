// What tests of an http1_state and its requests share: some messages, and their end, when the
// client leaves and nothing stays behind.
#pragma once

#include "tests/unit/client/recording_port.hpp"

#include <gtest/gtest.h>

namespace gateway::client::testing {

inline const std::string handshake =
    "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

inline limits::admission refusal(int status)
{
    return limits::refusal(status, "no");
}

class http1_fixture : public ::testing::Test {
protected:
    recording_port port;

    http1_state::phase at() const { return port.http1.at(); }

    request_state::phase request_at() const { return port.request.at(); }

    void TearDown() override
    {
        EXPECT_EQ(port.broken, "");
        if (!port.closed && !port.has_tunnel()) {
            port.client_leaves();
        } else if (!port.closed) {
            port.everybody_leaves();
        }
        EXPECT_EQ(port.broken, "");
        EXPECT_TRUE(port.closed);
        EXPECT_EQ(port.begins, port.ends.size());
        for (const auto& lease : port.leases) {
            EXPECT_TRUE(lease.released);
        }
    }
};

}  // namespace gateway::client::testing
