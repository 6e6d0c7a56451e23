// A session over the TLS engine: a server and a client of ours in memory, whose bytes are cut,
// lost, changed and added to on the way. Whatever becomes of them, nobody reads a byte that the
// other side has not sent, in any other order, or after a failure; and what is not tampered with
// arrives whole.
#include "gateway/net/tls_client.hpp"
#include "gateway/net/tls_server.hpp"
#include "tests/fuzz/require.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::net {
namespace {

using fuzz::require;

std::string text_of(BIO* from)
{
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(from, &bytes);
    std::string text{bytes, static_cast<std::size_t>(size)};
    BIO_free_all(from);
    return text;
}

// With a certificate that vouches for itself.
tls_server_options server_options()
{
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    BIO* const shown = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(shown, certificate);
    BIO* const kept = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(kept, key, nullptr, nullptr, 0, nullptr, nullptr);
    X509_free(certificate);
    EVP_PKEY_free(key);
    tls_server_options made;
    made.certificates.push_back({{"certificate", text_of(shown)}, {"key", text_of(kept)}});
    return made;
}

const std::shared_ptr<tls_server>& server()
{
    static const auto made = tls_server::make(server_options(), {});
    return made;
}

// It believes whoever answers, and comes back with its last session.
const std::shared_ptr<tls_client>& client()
{
    static const auto made = [] {
        tls_client_options options;
        options.verify = false;
        require(!tls_client::prepare(options));
        return tls_client::make(options, "gateway.test");
    }();
    return made;
}

// One end of the connection.
class side {
public:
    explicit side(std::unique_ptr<tls_engine> engine) : engine_(std::move(engine)) {}

    void limit_to_1_2() { SSL_set_max_proto_version(engine_->ssl(), TLS1_2_VERSION); }

    void say(std::size_t count)
    {
        const std::string text(count, static_cast<char>('a' + said.size() % 26));
        const bool sent = engine_->send(text, out);
        require(sent || failed);
        said += sent ? text : "";
    }

    void hear(std::string_view coded)
    {
        std::vector<char> into(tls_engine::text_bytes(coded.size()));
        const std::size_t before = out.size();
        std::size_t count = 0;
        const auto got = engine_->receive(std::span{coded}, into, count, out);
        require(count <= into.size());
        require(!failed || count == 0);
        require(out.size() - before <= most_answered + waiting());
        require(
            (got == tls_engine::result::text) == (count > 0) || got == tls_engine::result::failed
        );
        failed = failed || got == tls_engine::result::failed;
        heard.append(into.data(), failed ? 0 : count);
    }

    bool in_order() const { return !engine_->shaking_hands() && !failed; }

    std::string said;
    std::string heard;
    // On its way to the other side.
    std::string out;
    bool failed = false;

private:
    // A flight of the handshake, or the alert that ends it.
    static constexpr std::size_t most_answered = 16 * 1024;

    std::unique_ptr<tls_engine> engine_;

    // What was said before the handshake leaves with its end.
    std::size_t waiting() const { return 2 * said.size() + 1024; }
};

void deliver(side& from, side& to, std::size_t piece)
{
    const std::string all = std::exchange(from.out, {});
    for (std::size_t at = 0; at < all.size(); at += piece) {
        to.hear(std::string_view{all}.substr(at, piece));
    }
}

void run(std::string_view script)
{
    side gateway{tls_server::accept(server())};
    side caller{tls_client::connect(client())};
    bool tampered = false;
    if (!script.empty() && (script[0] & 1) != 0) {
        caller.limit_to_1_2();
    }
    caller.hear({});
    for (std::size_t at = 1; at + 1 < script.size(); at += 2) {
        const auto what = static_cast<std::uint8_t>(script[at]);
        const std::size_t number = static_cast<std::uint8_t>(script[at + 1]);
        side& from = (what & 1) != 0 ? gateway : caller;
        side& to = (what & 1) != 0 ? caller : gateway;
        switch (what / 2 % 8) {
            case 0:
                deliver(from, to, number + 1);
                break;
            case 1:
                deliver(from, to, (number + 1) * 256);
                break;
            case 2:
                from.say(number * 100);
                break;
            case 3:
                tampered = tampered || !from.out.empty();
                from.out.resize(from.out.size() - std::min(number + 1, from.out.size()));
                break;
            case 4:
                if (!from.out.empty()) {
                    tampered = true;
                    from.out[number * from.out.size() / 256] ^= static_cast<char>(1 + number % 255);
                }
                break;
            case 5:
                tampered = true;
                from.out.insert(0, script.substr(at + 2, number));
                break;
            case 6:
                tampered = true;
                from.out += script.substr(at + 2, number);
                break;
            case 7:
                tampered = tampered || !from.out.empty();
                from.out += std::string{from.out};  // all of it once more
                break;
        }
        require(from.heard == to.said.substr(0, from.heard.size()));
        require(to.heard == from.said.substr(0, to.heard.size()));
    }
    if (tampered) {
        return;
    }
    for (int turn = 0; turn < 4; ++turn) {
        deliver(caller, gateway, 4096);
        deliver(gateway, caller, 4096);
    }
    require(caller.in_order() && gateway.in_order());
    require(caller.heard == gateway.said && gateway.heard == caller.said);
}

}  // namespace
}  // namespace gateway::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    gateway::net::run({reinterpret_cast<const char*>(data), size});
    return 0;
}
