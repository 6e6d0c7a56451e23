#include "gateway/net/tls/client_sessions.hpp"

#include "gateway/net/tls/owned.hpp"
#include "tests/unit/net/tls_identity.hpp"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <ctime>
#include <thread>

namespace gateway::net {
namespace client_sessions_test {

using namespace std::chrono_literals;
using testing::identity;

using context = owned<SSL_CTX, SSL_CTX_free>;
using engine = owned<SSL, SSL_free>;
using session = owned<SSL_SESSION, SSL_SESSION_free>;

// A client with a certificate and a server, which meet again and again.
class client_sessions : public ::testing::TestWithParam<int> {
protected:
    context server{SSL_CTX_new(TLS_server_method())};
    context client{SSL_CTX_new(TLS_client_method())};
    session kept;

    void prepare(const identity& shown, std::chrono::seconds longest)
    {
        const identity own{"DNS:gateway.test"};
        own.let_serve(server.get());
        shown.let_vouch(server.get());
        SSL_CTX_set_verify(server.get(), SSL_VERIFY_PEER, nullptr);
        const std::array<unsigned char, 1> name{'x'};
        SSL_CTX_set_session_id_context(server.get(), name.data(), name.size());
        limit_client_sessions(server.get(), longest);
        shown.let_serve(client.get());
        SSL_CTX_set_max_proto_version(client.get(), GetParam());
        SSL_CTX_set_session_cache_mode(
            client.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
        );
        SSL_CTX_set_app_data(client.get(), this);
        SSL_CTX_sess_set_new_cb(client.get(), keep);
    }

    // Whether the last session went on; the next one is of this meeting.
    bool meet()
    {
        const engine here{SSL_new(server.get())};
        const engine there{SSL_new(client.get())};
        SSL_set_accept_state(here.get());
        SSL_set_connect_state(there.get());
        BIO* near = nullptr;
        BIO* far = nullptr;
        BIO_new_bio_pair(&near, 0, &far, 0);
        SSL_set_bio(here.get(), near, near);
        SSL_set_bio(there.get(), far, far);
        if (kept) {
            SSL_set_session(there.get(), kept.get());
        }
        std::array<char, 16> nothing{};
        for (int turn = 0; turn < 10; ++turn) {
            SSL_read(there.get(), nothing.data(), nothing.size());
            SSL_read(here.get(), nothing.data(), nothing.size());
        }
        EXPECT_EQ(SSL_is_init_finished(there.get()), 1);
        // Else the client holds a session for bad whose connection was cut.
        SSL_set_shutdown(there.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        const bool resumed = SSL_session_reused(here.get()) == 1;
        EXPECT_EQ(SSL_session_reused(there.get()) == 1, resumed);
        return resumed;
    }

private:
    static int keep(SSL* ssl, SSL_SESSION* made)
    {
        static_cast<client_sessions*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))->kept.reset(made);
        return 1;
    }
};

void wait_until(std::time_t when)
{
    while (std::time(nullptr) < when) {
        std::this_thread::sleep_for(10ms);
    }
}

TEST_P(client_sessions, last_no_longer_for_being_renewed)
{
    prepare(identity{"DNS:client.test"}, 3s);
    const std::time_t began = std::time(nullptr);
    EXPECT_FALSE(meet());
    wait_until(began + 2);
    EXPECT_TRUE(meet());
    wait_until(began + 4);  // OpenSSL alone would count from the renewal
    EXPECT_FALSE(meet());
    EXPECT_TRUE(meet());
}

TEST_P(client_sessions, end_with_the_certificate_that_was_shown)
{
    const std::time_t began = std::time(nullptr);
    prepare(identity{"DNS:client.test", 2}, 24h);
    EXPECT_FALSE(meet());
    EXPECT_TRUE(meet());
    wait_until(began + 3);
    SSL_CTX_set_verify(server.get(), SSL_VERIFY_NONE, nullptr);
    EXPECT_FALSE(meet()) << "without a look at the certificate";
}

INSTANTIATE_TEST_SUITE_P(
    versions, client_sessions, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION)
);

}  // namespace client_sessions_test
}  // namespace gateway::net
