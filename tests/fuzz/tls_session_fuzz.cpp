// Input: what a client is like, then steps, each a byte for its kind, perhaps more for details.
// The client is OpenSSL's; its records are cut, changed, repeated and mixed with other bytes on
// their way. The server's engine answers text with the same text, as a session would send it.
// Whatever comes, only text that was sent comes out, in its order; what is to be sent and what
// OpenSSL holds has a bound; and where nothing was done to the records, all of them count, unless
// more than the engine allows had no text.
#include "gateway/net/tls/tls_server.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/net/tls_identity.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gateway;
using fuzz::require;
using net::tls_engine;
using result = tls_engine::result;

// What one connection may make OpenSSL hold, at any time: a client's first message may have 131,396
// bytes (CLIENT_HELLO_MAX_LENGTH) and is kept twice, for its meaning and for the handshake's
// digest, each time with a third of room to spare; beside it are records and what is fixed.
constexpr long most_held = 2 * 131396 / 3 * 4 + 64 * 1024;
// What may be sent besides answers to what came: certificates, tickets, an alert.
constexpr std::size_t most_unasked = 8 * 1024;
// Of a record, besides its text.
constexpr std::size_t most_of_record = 64;
// The ticket, which may come with the first words to the client.
constexpr std::size_t most_of_ticket = 2 * 1024;
constexpr std::size_t record_text = 16 * 1024;
// As much as a connection receives at once.
constexpr std::size_t piece_bytes = 64 * 1024;

// Bytes that OpenSSL has taken and not given back.
long taken = 0;

long size_of(void* block)
{
    return static_cast<long>(malloc_usable_size(block));
}

void* take(std::size_t size, const char*, int)
{
    void* const made = std::malloc(size);
    taken += size_of(made);
    return made;
}

void* take_other(void* block, std::size_t size, const char*, int)
{
    taken -= size_of(block);
    void* const made = std::realloc(block, size);
    taken += size_of(made);
    return made;
}

void give_back(void* block, const char*, int)
{
    taken -= size_of(block);
    std::free(block);
}

template <auto free>
struct freed_by {
    void operator()(auto* what) const { free(what); }
};

using context = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using session = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

// What a client is like.
struct habits {
    explicit habits(unsigned char bits)
        : old((bits & 1) != 0),
          known((bits & 2) != 0),
          returns((bits & 4) != 0),
          nameless((bits & 8) != 0),
          refused((bits & 0xf0) == 0xf0)
    {}

    // TLS 1.2.
    bool old;
    // It has a certificate.
    bool known;
    // With the ticket that another one got.
    bool returns;
    bool nameless;
    // It speaks none of the protocols that the server has.
    bool refused;
};

// What all runs share. Made first of all, so that every block of OpenSSL's is counted.
class world {
public:
    world()
    {
        require(CRYPTO_set_mem_functions(take, take_other, give_back) == 1);
        const net::testing::identity server{"DNS:gateway.test"};
        const net::testing::identity client{"DNS:client.test"};
        net::tls_server_options options;
        options.certificates = {{server.certificate(), server.key()}};
        options.clients = net::client_certificates::optional;
        options.client_ca = client.certificate();
        require(!net::tls_server::check(options));
        server_ = net::tls_server::make(options, {});
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            const habits of{static_cast<unsigned char>(i)};
            clients_[i].reset(SSL_CTX_new(TLS_client_method()));
            SSL_CTX_set_max_proto_version(
                clients_[i].get(), of.old ? TLS1_2_VERSION : TLS1_3_VERSION
            );
            SSL_CTX_set_session_cache_mode(
                clients_[i].get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
            );
            SSL_CTX_set_ex_data(clients_[i].get(), 0, &sessions_[i]);
            SSL_CTX_sess_set_new_cb(clients_[i].get(), keep);
            if (of.known) {
                client.let_serve(clients_[i].get());
            }
        }
    }

    std::unique_ptr<tls_engine> accept() { return net::tls_server::accept(server_); }

    SSL* connect(const habits& like)
    {
        SSL* const made = SSL_new(clients_[number(like)].get());
        if (like.returns && sessions_[number(like)]) {
            SSL_set_session(made, sessions_[number(like)].get());
        }
        return made;
    }

private:
    std::shared_ptr<net::tls_server> server_;
    std::array<context, 4> clients_;
    std::array<session, 4> sessions_;

    static std::size_t number(const habits& of)
    {
        return (of.old ? 1U : 0U) + (of.known ? 2U : 0U);
    }

    // The first ticket, so that a run depends on those before it in nothing.
    static int keep(SSL* ssl, SSL_SESSION* made)
    {
        auto& kept = *static_cast<session*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0));
        if (kept) {
            return 0;
        }
        kept.reset(made);
        return 1;
    }
};

// The client's end, whose records go wherever its user brings them.
class client {
public:
    client(world& in, const habits& like)
        : ssl_(in.connect(like)),
          from_server_(BIO_new(BIO_s_mem())),
          to_server_(BIO_new(BIO_s_mem()))
    {
        SSL_set_bio(ssl_.get(), from_server_, to_server_);
        SSL_set_connect_state(ssl_.get());
        std::string name = "gateway.test";
        if (!like.nameless) {
            SSL_ctrl(
                ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()
            );
        }
        const std::string_view protocols = like.refused ? "\6spdy/3" : "\2h2\10http/1.1";
        const auto* const bytes = reinterpret_cast<const unsigned char*>(protocols.data());
        SSL_set_alpn_protos(ssl_.get(), bytes, static_cast<unsigned int>(protocols.size()));
    }

    bool shaken() const { return SSL_is_init_finished(ssl_.get()) == 1; }

    bool may_speak() const { return shaken() && !failed && !ended; }

    void take(const std::string& bytes)
    {
        if (!bytes.empty()) {
            BIO_write(from_server_, bytes.data(), static_cast<int>(bytes.size()));
        }
    }

    // Goes on with what it has got; its records for the server.
    std::string go_on()
    {
        std::array<char, 4096> piece;
        std::size_t count = 0;
        ERR_clear_error();
        while (SSL_read_ex(ssl_.get(), piece.data(), piece.size(), &count) == 1) {
            heard.append(piece.data(), count);
        }
        const int why = SSL_get_error(ssl_.get(), 0);
        failed = failed || (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN);
        std::string records(BIO_ctrl_pending(to_server_), '\0');
        if (!records.empty()) {
            BIO_read(to_server_, records.data(), static_cast<int>(records.size()));
        }
        ERR_clear_error();
        return records;
    }

    void speak(std::string_view text)
    {
        std::size_t count = 0;
        require(SSL_write_ex(ssl_.get(), text.data(), text.size(), &count) == 1);
        said += text;
        without_text += text.empty() ? 1 : 0;
    }

    void change_keys(bool both)
    {
        if (SSL_version(ssl_.get()) == TLS1_3_VERSION) {
            SSL_key_update(
                ssl_.get(), both ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
            );
            SSL_do_handshake(ssl_.get());
            ++without_text;
        }
    }

    // False: it does not ask for that.
    bool renegotiate()
    {
        return SSL_renegotiate(ssl_.get()) == 1 && SSL_do_handshake(ssl_.get()) != 1;
    }

    void end()
    {
        SSL_shutdown(ssl_.get());
        ended = true;
    }

    std::string said;
    std::string heard;
    // Records that it has sent after the handshake, and which had none.
    int without_text = 0;
    bool ended = false;
    bool failed = false;

private:
    std::unique_ptr<SSL, freed_by<SSL_free>> ssl_;
    // Owned by ssl_.
    BIO* from_server_;
    BIO* to_server_;
};

class script {
public:
    script(world& in, std::string_view input)
        : input_(input), like_(next()), client_(in, like_), before_(taken), engine_(in.accept())
    {
        hold(taken - before_);
        wire_ = client_.go_on();
    }

    void run()
    {
        while (at_ < input_.size() && !failed_) {
            step(next());
        }
        end();
    }

private:
    std::string_view input_;
    std::size_t at_ = 0;
    habits like_;
    client client_;
    long before_;
    std::unique_ptr<tls_engine> engine_;
    long held_ = 0;
    // The client's records that have not arrived.
    std::string wire_;
    // Something was done to them.
    bool damaged_ = false;
    // The engine's word.
    bool failed_ = false;
    bool sent_close_notify_ = false;
    std::size_t arrived_ = 0;
    // Text of the client, and our own that came before the end of the handshake.
    std::size_t heard_ = 0;
    std::size_t early_ = 0;
    // Until the ticket has certainly been sent.
    std::size_t ticket_ = most_of_ticket;
    std::string said_;

    unsigned char next()
    {
        return at_ < input_.size() ? static_cast<unsigned char>(input_[at_++]) : 0;
    }

    std::string_view some()
    {
        const std::size_t count = next();
        const std::string_view bytes = input_.substr(at_, count);
        at_ += bytes.size();
        return bytes;
    }

    static std::string text(unsigned char detail)
    {
        constexpr std::array<std::size_t, 8> sizes{0, 1, 100, 1400, 16384, 16385, 40000, 70000};
        std::string made(sizes[detail % sizes.size()], '\0');
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = static_cast<char>('a' + (i * 7 + i / 251 + detail) % 26);
        }
        return made;
    }

    void step(unsigned char kind)
    {
        const unsigned char detail = kind / 16;
        switch (kind % 16) {
            case 0:
            case 1:
            case 2:
                deliver(wire_.size());
                break;
            case 3:
            case 4:
                deliver(std::size_t{next()} << detail % 8);
                break;
            case 5:
            case 6:
                if (client_.may_speak()) {
                    client_.speak(text(detail));
                }
                break;
            case 7:
                speak(text(detail));
                break;
            case 8:
                send_close_notify();
                break;
            default:
                happen(kind % 16, detail);
        }
        wire_ += client_.go_on();
    }

    void happen(int kind, unsigned char detail)
    {
        switch (kind) {
            case 9:
                change(detail);
                break;
            case 10:
                add(some());
                break;
            case 11:
                huge_record(detail);
                break;
            case 12:
                repeat();
                break;
            case 13:
                cut();
                break;
            case 14:
                if (client_.may_speak()) {
                    client_.change_keys(detail % 2 == 0);
                }
                break;
            default:
                leave(detail);
        }
    }

    void leave(unsigned char detail)
    {
        if (!client_.may_speak()) {
            return;
        }
        if (detail % 4 == 0) {
            damaged_ = client_.renegotiate() || damaged_;
        } else {
            client_.end();
        }
    }

    // Where a number of the input points to.
    std::size_t place(unsigned char number) const
    {
        return wire_.empty() ? 0 : number * std::size_t{257} % wire_.size();
    }

    void change(unsigned char detail)
    {
        const std::size_t at = detail < 8 ? std::size_t{detail} : place(next());
        if (at < wire_.size()) {
            wire_[at] = static_cast<char>(wire_[at] ^ (next() | 1));
            damaged_ = true;
        }
    }

    void add(std::string_view bytes)
    {
        wire_ += bytes;
        damaged_ = damaged_ || !bytes.empty();
    }

    void huge_record(unsigned char detail)
    {
        const std::size_t claimed = std::size_t{next()} << 8 | 0xff;
        const std::array<char, 5> head{
            static_cast<char>(20 + detail % 5),
            3,
            3,
            static_cast<char>(claimed >> 8),
            static_cast<char>(claimed & 0xff)};
        add({head.data(), head.size()});
        add(std::string(detail < 8 ? claimed : claimed / 2, 'x'));
    }

    void repeat()
    {
        const std::size_t from = place(next());
        add(std::string{wire_.substr(from, next())});
    }

    void cut()
    {
        const std::size_t from = place(next());
        const std::size_t count = next();
        damaged_ = damaged_ || (count > 0 && !wire_.empty());
        wire_.erase(from, count);
    }

    void hold(long more)
    {
        held_ += more;
        require(held_ <= most_held);
    }

    void deliver(std::size_t count)
    {
        while (count > 0 && !wire_.empty() && !failed_) {
            const std::string piece = wire_.substr(0, std::min(count, piece_bytes));
            wire_.erase(0, piece.size());
            count -= piece.size();
            receive(piece);
        }
    }

    void receive(const std::string& coded)
    {
        std::vector<char> into(tls_engine::text_bytes(coded.size()));
        std::size_t count = 0;
        std::string out;
        const bool had_ended = engine_->peer_has_ended();
        const long before = taken;
        const result came = engine_->receive(coded, into, count, out);
        hold(taken - before);
        arrived_ += coded.size();
        require((came == result::text) == (count > 0) || (came == result::failed));
        require(!had_ended || came == result::closed || came == result::failed);
        require(out.size() <= most_unasked + coded.size() + early_ * 2);
        client_.take(out);
        require(
            std::string_view(client_.said).substr(heard_, count) ==
            std::string_view(into.data(), count)
        );
        heard_ += count;
        require(heard_ <= arrived_);
        if (came == result::failed) {
            fail();
        } else if (count > 0) {
            speak({into.data(), count});
        }
    }

    void fail()
    {
        failed_ = true;
        require(!engine_->detail().empty());
        std::string out;
        require(!engine_->send("x", out));
        engine_->send_close_notify(out);
        require(out.empty());
    }

    void speak(const std::string& words)
    {
        if (failed_ || sent_close_notify_ || early_ + words.size() > piece_bytes) {
            return;
        }
        const bool kept = engine_->shaking_hands();
        std::string out;
        const long before = taken;
        require(engine_->send(words, out));
        hold(taken - before);
        early_ += kept ? words.size() : 0;
        require(!kept || out.empty());
        const std::size_t records = words.size() / record_text + 2;
        require(out.size() <= ticket_ + words.size() + records * most_of_record);
        ticket_ = out.empty() ? ticket_ : 0;
        client_.take(out);
        said_ += words;
    }

    void send_close_notify()
    {
        std::string out;
        engine_->send_close_notify(out);
        require(out.size() <= ticket_ + most_of_record);
        ticket_ = out.empty() ? ticket_ : 0;
        sent_close_notify_ = sent_close_notify_ || !out.empty();
        client_.take(out);
    }

    void end()
    {
        for (int turn = 0; !wire_.empty() && !failed_; ++turn) {
            require(turn < 10);
            deliver(wire_.size());
            wire_ += client_.go_on();
        }
        client_.go_on();
        require(said_.starts_with(client_.heard));
        if (damaged_) {
            return;
        }
        require(failed_ == (like_.refused || engine_->flooded()));
        require(!engine_->flooded() || client_.without_text > tls_engine::max_empty_records);
        require(failed_ || (client_.shaken() && !engine_->shaking_hands() && !client_.failed));
        require(failed_ || (heard_ == client_.said.size() && client_.heard == said_));
        require(engine_->flooded() || engine_->peer_has_ended() == client_.ended);
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static world all;
    script(all, {reinterpret_cast<const char*>(data), size}).run();
    return 0;
}
