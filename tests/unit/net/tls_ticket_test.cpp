// When a session ticket is sent: the server's engine against the client's, without a connection.
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
namespace tls_ticket_test {

struct side : testing::tls_side {
    void receive(std::string_view bytes)
    {
        EXPECT_NE(tls_side::receive(bytes), tls_engine::result::failed) << engine->detail();
    }

    void say(std::string_view text) { EXPECT_TRUE(engine->send(text, out)); }
};

class tls_ticket : public ::testing::Test {
protected:
    tls_ticket()
    {
        known_.let_serve(settings_.get());
        SSL_CTX_set_num_tickets(settings_.get(), 1);
        tls_client_options options;
        options.ca = known_.certificate();
        EXPECT_EQ(tls_client::prepare(options), std::nullopt);
        clients_ = tls_client::make(options, "known");
    }

    side server() const
    {
        return {
            {std::make_unique<tls_engine>(settings_.get(), tls_engine::role::server, settings_)}};
    }

    side client() const
    {
        side made{{tls_client::connect(clients_)}};
        made.receive({});
        return made;
    }

    void allow_at_most(int version) { SSL_CTX_set_max_proto_version(settings_.get(), version); }

    // The client's next word ends its part of the handshake of TLS 1.3.
    static void begin(side& from, side& to)
    {
        to.receive(from.take_output());
        from.receive(to.take_output());
    }

    // Also that word, which does so.
    static void shake_hands(side& from, side& to)
    {
        begin(from, to);
        to.receive(from.take_output());
    }

    bool goes_on() const
    {
        side back = client();
        side to = server();
        begin(back, to);
        return back.engine->resumed();
    }

private:
    testing::identity known_{"DNS:known"};
    std::shared_ptr<SSL_CTX> settings_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
    std::shared_ptr<tls_client> clients_;
};

TEST_F(tls_ticket, comes_with_the_answer_to_a_request_that_ends_the_handshake)
{
    side from = client();
    side to = server();
    from.say("request");
    shake_hands(from, to);
    EXPECT_EQ(to.heard, "request");
    EXPECT_EQ(to.out, "");
    to.say("answer");
    from.receive(to.take_output());
    EXPECT_EQ(from.heard, "answer");
    EXPECT_TRUE(goes_on());
}

TEST_F(tls_ticket, comes_at_once_where_no_request_ends_the_handshake)
{
    side from = client();
    side to = server();
    shake_hands(from, to);
    EXPECT_NE(to.out, "");
    from.receive(to.take_output());
    EXPECT_TRUE(goes_on());
}

TEST_F(tls_ticket, does_not_wait_for_the_answer_to_a_request_in_parts)
{
    side from = client();
    side to = server();
    from.say("a request");
    shake_hands(from, to);
    from.say(" and its rest");
    to.receive(from.take_output());
    EXPECT_EQ(to.heard, "a request and its rest");
    from.receive(to.take_output());
    EXPECT_TRUE(goes_on());
}

TEST_F(tls_ticket, comes_before_the_end)
{
    side from = client();
    side to = server();
    from.say("request");
    shake_hands(from, to);
    to.engine->send_close_notify(to.out);
    from.receive(to.take_output());
    EXPECT_TRUE(from.engine->peer_has_ended());
    EXPECT_TRUE(goes_on());
}

// Its clients send nothing before they have heard how the handshake ends.
TEST_F(tls_ticket, is_a_part_of_the_handshake_of_tls_1_2)
{
    allow_at_most(TLS1_2_VERSION);
    side from = client();
    side to = server();
    from.say("request");
    shake_hands(from, to);
    EXPECT_EQ(to.heard, "");
    EXPECT_NE(to.out, "");
    begin(to, from);
    EXPECT_EQ(to.heard, "request");
}

}  // namespace tls_ticket_test
}  // namespace gateway::net
