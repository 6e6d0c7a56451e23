// Records of TLS that carry no text, and what is no TLS: engines without a connection.
#include "gateway/net/tls/tls_client.hpp"
#include "gateway/net/tls/tls_engine.hpp"
#include "tests/unit/net/tls_identity.hpp"
#include "tests/unit/net/tls_side.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

namespace gateway::net {
namespace tls_records_test {

struct side : testing::tls_side {
    // Appends an update of its keys to what is sent, with the text behind it.
    void update_keys(std::string_view text)
    {
        EXPECT_EQ(SSL_key_update(engine->ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
        EXPECT_TRUE(engine->send(text, out));
    }
};

class tls_records : public ::testing::Test {
protected:
    side client;
    side server;

    tls_records()
    {
        known_.let_serve(settings_.get());
        tls_client_options options;
        options.ca = known_.certificate();
        EXPECT_EQ(tls_client::prepare(options), std::nullopt);
        client.engine = tls_client::connect(tls_client::make(options, "known"));
        server.engine =
            std::make_unique<tls_engine>(settings_.get(), tls_engine::role::server, settings_);
    }

    void shake_hands()
    {
        client.receive({});
        for (int turn = 0; turn < 3; ++turn) {
            server.receive(client.take_output());
            client.receive(server.take_output());
        }
        EXPECT_FALSE(server.engine->shaking_hands());
    }

private:
    testing::identity known_{"DNS:known"};
    std::shared_ptr<SSL_CTX> settings_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
};

// The number of updates, each with a byte of text, after which `to` fails; at most 1000.
int updates_until_failure(side& from, side& to)
{
    for (int count = 1; count <= 1000; ++count) {
        from.update_keys("x");
        if (to.receive(from.take_output()) == tls_engine::result::failed) {
            return count;
        }
        from.receive(to.take_output());
    }
    return 1000;
}

TEST_F(tls_records, without_text_are_bounded_whoever_sends_them)
{
    shake_hands();
    const int count = updates_until_failure(client, server);
    EXPECT_GT(count, tls_engine::max_empty_records);
    // The time of this test allows some more, and not as many as a flood has.
    EXPECT_LT(count, tls_engine::max_empty_records + 60);
    EXPECT_TRUE(server.engine->flooded());
    EXPECT_EQ(server.engine->detail(), "TLS: too many records without data");
}

TEST_F(tls_records, of_a_server_are_bounded_too)
{
    shake_hands();
    EXPECT_LT(updates_until_failure(server, client), tls_engine::max_empty_records + 60);
    EXPECT_TRUE(client.engine->flooded());
}

TEST_F(tls_records, with_text_are_not_counted)
{
    shake_hands();
    std::string coded;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(client.engine->send("x", coded));
    }
    EXPECT_EQ(server.receive(coded), tls_engine::result::text);
    EXPECT_EQ(server.heard, std::string(1000, 'x'));
    EXPECT_FALSE(server.engine->flooded());
}

TEST_F(tls_records, are_not_taken_from_plain_text)
{
    EXPECT_EQ(server.receive("G"), tls_engine::result::failed);
    EXPECT_TRUE(server.engine->heard_plain_text());
    EXPECT_EQ(server.out, "");
}

TEST_F(tls_records, of_a_handshake_may_hold_letters)
{
    client.receive({});
    const std::string hello = client.take_output();
    EXPECT_EQ(server.receive(hello.substr(0, 1)), tls_engine::result::nothing);
    EXPECT_EQ(server.receive("GET / HTTP/1.1\r\n\r\n"), tls_engine::result::failed);
    EXPECT_FALSE(server.engine->heard_plain_text()) << "it has begun as TLS";
}

}  // namespace tls_records_test
}  // namespace gateway::net
