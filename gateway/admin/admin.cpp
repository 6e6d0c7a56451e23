#include "gateway/admin/admin.hpp"

#include "gateway/admin/admin_api.hpp"
#include "gateway/admin/admin_reading.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/net/reported.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <list>
#include <utility>

namespace gateway::admin {

namespace {

namespace asio = boost::asio;

using protocol = asio::generic::stream_protocol;
using acceptor = asio::basic_socket_acceptor<protocol, net::executor>;
using beast::http::verb;

// Returns the peer's address, or a description of the peer of a Unix socket, which has none.
std::string name_of_peer(probes::control_stream& s)
{
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    ::getpeername(s.socket().native_handle(), reinterpret_cast<sockaddr*>(&peer), &size);
    const auto address = net::address_of(peer);
    return address ? address->to_string() : "a local process";
}

probes::control_response too_many_viewers()
{
    auto r = problem(
        beast::http::status::service_unavailable,
        "the stream has as many viewers as it may have; close one, or try again later"
    );
    r.set(beast::http::field::retry_after, "10");
    return r;
}

}  // namespace

struct admin_server::state {
    struct guest {
        probes::control_stream connection;
        // True if it is one of `present`, and not of `apart`.
        bool counts = true;
    };

    using guests = std::list<guest>;

    acceptor listening;
    client::admin_options options;
    admin_api api;
    // Those who view the stream. They count as connections, but make room for nobody.
    viewers stream;
    // Open connections. Those that have kept the server waiting longest come first.
    guests present{};
    // Connections of viewers, and those that make_room() closed, whose coroutines have yet to
    // notice.
    guests apart{};

    static net::task<> listen(std::shared_ptr<state> s);
    static net::task<> serve_one(std::shared_ptr<state> s, guests::iterator g);
    net::task<> serve(guests::iterator g);
    net::task<> stream_to(guests::iterator g, probes::control_response head, viewing what);
    void begin_waiting_for(guests::iterator g);
    void set_apart(guests::iterator g);
    void make_room();
};

void admin_server::state::begin_waiting_for(guests::iterator g)
{
    if (g->counts) {
        present.splice(present.end(), present, g);
    }
}

void admin_server::state::set_apart(guests::iterator g)
{
    if (g->counts) {
        g->counts = false;
        apart.splice(apart.end(), present, g);
    }
}

void admin_server::state::make_room()
{
    while (!present.empty() && present.size() + stream.count() >= options.max_connections) {
        const auto oldest = present.begin();
        oldest->connection.close();
        set_apart(oldest);
    }
}

// Writes the stream, whose end is that of the connection.
net::task<> admin_server::state::stream_to(
    guests::iterator g, probes::control_response head, viewing what
)
{
    head.keep_alive(false);
    set_apart(g);
    co_await stream.show(g->connection, std::move(head), std::move(what));
}

net::task<> admin_server::state::serve(guests::iterator g)
{
    probes::control_stream& s = g->connection;
    const std::string peer = name_of_peer(s);
    // The buffer also has room for chunk extensions and trailers, which no limit of the parser
    // covers.
    beast::flat_buffer buffer(max_admin_head_bytes + max_admin_body_bytes);
    bool keep_alive = true;
    while (keep_alive) {
        admin_parser parser;
        parser.header_limit(max_admin_head_bytes);
        parser.body_limit(max_admin_body_bytes);
        s.expires_after(options.timeout);
        begin_waiting_for(g);
        heard_request heard = co_await hear(s, buffer, parser);
        if (heard.gone) {
            break;
        }
        begin_waiting_for(g);
        admin_answer given;
        if (heard.refusal) {
            given.response = std::move(*heard.refusal);
        } else {
            given = co_await api.answer(parser.get(), peer);
        }
        if (given.stream && stream.has_room()) {
            co_await stream_to(g, std::move(given.response), *std::move(given.stream));
            break;
        }
        probes::control_response answer =
            given.stream ? too_many_viewers() : std::move(given.response);
        s.expires_after(options.timeout);
        answer.keep_alive(parser.get().keep_alive() && !heard.refusal);
        answer.prepare_payload();
        keep_alive = answer.keep_alive();
        if (parser.get().method() == verb::head) {
            answer.body().clear();
        }
        if (co_await probes::write(s, answer)) {
            break;
        }
        if (heard.refusal) {
            co_await part_with(s);
        }
    }
}

net::task<> admin_server::state::serve_one(std::shared_ptr<state> s, guests::iterator g)
{
    co_await s->serve(g);
    (g->counts ? s->present : s->apart).erase(g);
}

net::task<> admin_server::state::listen(std::shared_ptr<state> s)
{
    net::timer rest(s->listening.get_executor());
    while (s->listening.is_open()) {
        net::stream_socket peer(s->listening.get_executor());
        auto [ec] = co_await s->listening.async_accept(peer, net::use_task);
        if (ec) {  // The process may be out of descriptors: do not spin.
            co_await net::pause(rest, net::listener::pause_after_failure);
        } else {
            s->make_room();
            const auto g =
                s->present.insert(s->present.end(), guest{probes::control_stream(std::move(peer))});
            asio::co_spawn(s->listening.get_executor(), serve_one(s, g), asio::detached);
        }
    }
}

admin_server::admin_server(
    asio::io_context& context,
    net::socket listening,
    const client::admin_options& options,
    admin_sources from
)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(listening.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    const protocol family(address.ss_family, 0);
    const auto looking = std::make_shared<watch>(context.get_executor(), from);
    state_ = std::make_shared<state>(state{
        acceptor(context.get_executor(), family, listening.release()),
        options,
        admin_api(context.get_executor(), options, std::move(from)),
        viewers(looking, options.max_connections, options.timeout)});
    asio::co_spawn(
        context.get_executor(), watch::look(looking), net::reported("the look at the counters")
    );
    asio::co_spawn(
        context.get_executor(), state::listen(state_), net::reported("the admin listener")
    );
}

admin_server::~admin_server() = default;

void admin_server::stop_accepting()
{
    boost::system::error_code ignored;
    state_->listening.close(ignored);
    state_->stream.end();
}

}  // namespace gateway::admin
