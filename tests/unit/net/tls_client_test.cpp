// The client's side of TLS against OpenSSL's own server's side, byte by byte and all at once.
#include "gateway/net/tls/tls_client.hpp"

#include "tests/unit/net/tls_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::net {
namespace tls_client_test {

using ::testing::HasSubstr;
using testing::identity;
using testing::pem_of;

std::string rsa_key()
{
    EVP_PKEY* const key = EVP_RSA_gen(2048);
    std::string text = pem_of([key](BIO* to) {
        PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    EVP_PKEY_free(key);
    return text;
}

class server {
public:
    explicit server(const identity& who, const identity* wanted = nullptr)
        : context_(SSL_CTX_new(TLS_server_method()))
    {
        who.let_serve(context_);
        if (wanted != nullptr) {
            wanted->let_vouch(context_);
            SSL_CTX_set_verify(
                context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr
            );
        }
        begin_again();
    }

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    ~server()
    {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
        ERR_clear_error();
    }

    // Of half a KiB.
    void send_small_records() { SSL_set_max_send_fragment(ssl_, 512); }

    // With a new connection.
    void begin_again()
    {
        SSL_free(ssl_);
        ssl_ = SSL_new(context_);
        in_ = BIO_new(BIO_s_mem());
        out_ = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl_, in_, out_);
        SSL_set_accept_state(ssl_);
    }

    // Takes bytes of the client, answers what text there is with the same text, and gives back
    // bytes for it.
    std::string answer(const std::string& bytes)
    {
        if (!bytes.empty()) {
            BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
        }
        char piece[1000];
        int count = 0;
        while ((count = SSL_read(ssl_, piece, sizeof(piece))) > 0) {
            heard.append(piece, static_cast<std::size_t>(count));
            SSL_write(ssl_, piece, count);
        }
        ERR_clear_error();
        std::string out(BIO_ctrl_pending(out_), '\0');
        BIO_read(out_, out.data(), static_cast<int>(out.size()));
        return out;
    }

    std::string heard;

private:
    SSL_CTX* context_;
    SSL* ssl_ = nullptr;
    BIO* in_ = nullptr;
    BIO* out_ = nullptr;
};

// A connection to a server, without the connection.
class talker {
public:
    talker(const tls_client_options& options, const std::string& host)
        : talker(tls_client::make(options, host))
    {}

    explicit talker(const std::shared_ptr<tls_client>& of) : engine_(tls_client::connect(of))
    {
        std::string none;
        good_ = receive({}, none);
    }

    void send(std::string_view text) { good_ = engine_->send(text, out_) && good_; }

    [[nodiscard]] bool receive(std::string_view bytes, std::string& text)
    {
        std::vector<char> into(tls_engine::text_bytes(bytes.size()));
        std::size_t count = 0;
        const auto got = engine_->receive(std::span{bytes}, into, count, out_);
        text.append(into.data(), count);
        good_ = got != tls_engine::result::failed && good_;
        return good_;
    }

    std::string take_output() { return std::exchange(out_, {}); }

    bool resumed() const { return engine_->resumed(); }

    bool shaking_hands() const { return engine_->shaking_hands(); }

    // A message of the handshake's kind has come in part.
    bool is_within_a_message() const { return SSL_is_init_finished(engine_->ssl()) == 0; }

    bool good() const { return good_; }

    const std::string& detail() const { return engine_->detail(); }

private:
    std::unique_ptr<tls_engine> engine_;
    std::string out_;
    bool good_ = true;
};

class tls : public ::testing::Test {
protected:
    const identity known{"DNS:redis.internal,IP:127.0.0.1"};
    tls_client_options options{
        .ca = known.certificate(), .certificate = {}, .key = {}, .server_name = {}};
    std::string text;

    const tls_client_options& prepared()
    {
        EXPECT_EQ(tls_client::prepare(options), std::nullopt);
        return options;
    }

    // Until neither has anything to say, in pieces of so many bytes. False: the client gave up.
    bool talk(talker& client, server& with, std::size_t piece = 100'000)
    {
        std::string to_server = client.take_output();
        while (!to_server.empty()) {
            const std::string all = with.answer(to_server);
            for (std::size_t at = 0; at < all.size(); at += piece) {
                const std::string_view some = std::string_view{all}.substr(at, piece);
                if (!client.receive(some, text)) {
                    return false;
                }
            }
            to_server = client.take_output();
        }
        return true;
    }

    std::string why_refused(server& with, const std::string& host)
    {
        talker client{prepared(), host};
        EXPECT_FALSE(talk(client, with)) << host;
        return client.detail();
    }
};

TEST_F(tls, carries_text_whatever_the_pieces_it_comes_in)
{
    const std::string large(100'000, 'x');
    for (const std::size_t piece : {1U, 2U, 5U, 100U, 100'000U}) {
        text.clear();
        server with{known};
        talker client{prepared(), "redis.internal"};
        client.send("before the handshake, ");
        client.send("in order, ");
        ASSERT_TRUE(talk(client, with, piece)) << client.detail();
        client.send(large);
        ASSERT_TRUE(talk(client, with, piece)) << client.detail();
        EXPECT_EQ(text, "before the handshake, in order, " + large);
        EXPECT_EQ(text, with.heard);
    }
}

TEST_F(tls, knows_the_server_by_name_or_address)
{
    for (const char* host : {"redis.internal", "127.0.0.1"}) {
        server with{known};
        talker client{prepared(), host};
        EXPECT_TRUE(talk(client, with)) << client.detail();
    }
    server as_another{known};
    EXPECT_THAT(why_refused(as_another, "redis.example"), HasSubstr("hostname mismatch"));
    server elsewhere{known};
    EXPECT_THAT(why_refused(elsewhere, "127.0.0.2"), HasSubstr("IP address mismatch"));
    options.server_name = "redis.internal";
    server by_name{known};
    talker client{prepared(), "127.0.0.2"};
    EXPECT_TRUE(talk(client, by_name)) << client.detail();
}

TEST_F(tls, says_nothing_to_a_server_that_nobody_vouches_for)
{
    const identity stranger{"DNS:redis.internal"};
    server with{stranger};
    talker client{prepared(), "redis.internal"};
    client.send("secret");
    EXPECT_FALSE(talk(client, with));
    EXPECT_THAT(client.detail(), HasSubstr("the server's certificate: self-signed"));
    with.answer(client.take_output());
    EXPECT_EQ(with.heard, "");

    options.verify = false;
    server again{stranger};
    talker careless{prepared(), "redis.internal"};
    careless.send("secret");
    EXPECT_TRUE(talk(careless, again)) << careless.detail();
    EXPECT_EQ(again.heard, "secret");
}

TEST_F(tls, shows_who_we_are_to_a_server_that_asks)
{
    const identity we{"DNS:gateway"};
    server strict{known, &we};
    EXPECT_THAT(why_refused(strict, "redis.internal"), HasSubstr("TLS: "));
    options.certificate = we.certificate();
    options.key = we.key();
    server with{known, &we};
    talker client{prepared(), "redis.internal"};
    client.send("hello");
    EXPECT_TRUE(talk(client, with)) << client.detail();
    EXPECT_EQ(with.heard, "hello");
}

TEST_F(tls, is_none_if_something_else_is_said)
{
    for (const char* said : {"-ERR Protocol error\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
        talker client{prepared(), "redis.internal"};
        EXPECT_FALSE(client.receive(said, text));
        EXPECT_THAT(client.detail(), HasSubstr("TLS: "));
    }
    server with{known};
    talker client{prepared(), "redis.internal"};
    ASSERT_TRUE(talk(client, with));
    using std::string_view_literals::operator""sv;
    const std::string forged = std::string{"\x17\x03\x03\x00\x20"sv} + std::string(32, 'x');
    EXPECT_FALSE(client.receive(forged, text));
    EXPECT_NE(client.detail(), "");
}

TEST_F(tls, knows_names_with_a_final_dot)
{
    for (const char* host : {"redis.internal.", "127.0.0.1."}) {
        server with{known};
        talker client{prepared(), host};
        EXPECT_TRUE(talk(client, with)) << client.detail();
    }
}

TEST_F(tls, that_does_not_look_at_the_server_does_not_complain_of_it)
{
    const identity stranger{"DNS:redis.internal"};
    const identity we{"DNS:gateway"};
    options.verify = false;
    server with{stranger, &we};
    EXPECT_THAT(why_refused(with, "redis.internal"), HasSubstr("TLS: "));
}

TEST_F(tls, goes_on_with_the_last_session_of_the_same_server)
{
    server with{known};
    const auto client = tls_client::make(prepared(), "redis.internal");
    const auto other = tls_client::make(options, "127.0.0.1");
    talker first{client};
    ASSERT_TRUE(talk(first, with)) << first.detail();
    EXPECT_FALSE(first.resumed());
    for (int again = 0; again < 3; ++again) {
        with.begin_again();
        talker next{client};
        ASSERT_TRUE(talk(next, with)) << next.detail();
        EXPECT_TRUE(next.resumed());
    }
    with.begin_again();
    talker elsewhere{other};
    ASSERT_TRUE(talk(elsewhere, with)) << elsewhere.detail();
    EXPECT_FALSE(elsewhere.resumed());
}

// Which records a ticket is cut into is the server's choice, and when they come, too.
TEST_F(tls, keeps_little_text_while_a_ticket_has_come_in_part)
{
    const identity we{"DNS:gateway"};
    options.certificate = we.certificate();
    options.key = we.key();
    server with{known, &we};
    with.send_small_records();
    talker client{prepared(), "redis.internal"};
    std::string waiting = with.answer(client.take_output());
    bool shaken = false;
    while (!waiting.empty() && !(shaken && client.is_within_a_message())) {
        const std::size_t length = 5 + static_cast<std::uint8_t>(waiting[3]) * std::size_t{256} +
                                   static_cast<std::uint8_t>(waiting[4]);
        ASSERT_TRUE(client.receive(waiting.substr(0, length), text)) << client.detail();
        waiting.erase(0, length);
        waiting += with.answer(client.take_output());
        shaken = shaken || !client.is_within_a_message();
    }
    ASSERT_TRUE(shaken && client.is_within_a_message()) << "no ticket in parts";
    EXPECT_FALSE(client.shaking_hands()) << "that is over";
    client.send("in the meantime");
    EXPECT_TRUE(client.good());
    client.send(std::string(tls_engine::most_kept, 'x'));
    EXPECT_FALSE(client.good());
    EXPECT_TRUE(client.take_output().empty());
}

TEST_F(tls, options_are_checked_beforehand)
{
    const auto complaint = [](tls_client_options of) {
        return tls_client::prepare(of).value_or("");
    };
    EXPECT_EQ(complaint(options), "");
    EXPECT_EQ(complaint({}), "");
    const identity other{"DNS:other"};
    const std::string damaged = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";
    tls_client_options bad;
    bad.ca = {"x", damaged};
    EXPECT_THAT(complaint(bad), HasSubstr("ca: expected certificates"));
    bad.ca = {"x", known.certificate().text + damaged};
    EXPECT_THAT(complaint(bad), HasSubstr("ca: expected certificates"));
    bad.ca = {"x", known.certificate().text + "some words\n" + other.certificate().text + "\n"};
    EXPECT_EQ(complaint(bad), "");
    bad = {};
    bad.certificate = known.key();
    EXPECT_THAT(complaint(bad), HasSubstr("cert: expected certificates"));
    bad.certificate = known.certificate();
    bad.key = other.key();
    EXPECT_THAT(complaint(bad), HasSubstr("key: no private key"));
    bad.key = {"x", rsa_key()};
    EXPECT_THAT(complaint(bad), HasSubstr("key: no private key")) << "it is of another kind";
    bad.key = known.key();
    EXPECT_EQ(complaint(bad), "");
}

TEST_F(tls, options_are_the_same_whether_prepared_or_not)
{
    const tls_client_options fresh = options;
    EXPECT_EQ(prepared(), fresh);
    options.server_name = "x";
    EXPECT_NE(options, fresh);
}

}  // namespace tls_client_test
}  // namespace gateway::net
