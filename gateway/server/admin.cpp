#include "gateway/server/admin.hpp"

#include "gateway/http/date_line.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/server/control_http.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>

#include <list>

namespace gateway::server {

namespace {

namespace asio = boost::asio;

using protocol = asio::generic::stream_protocol;
using acceptor = asio::basic_socket_acceptor<protocol, net::executor>;
using beast::http::field;
using beast::http::status;
using beast::http::verb;

control_response plain(status code, std::string_view type, std::string body)
{
    control_response r(code, 11);
    r.set(field::content_type, beast::string_view(type.data(), type.size()));
    r.set(field::cache_control, "no-store");
    const http::date_line date(base::unix_time());
    r.set(field::date, {date.value().data(), date.value().size()});
    r.body() = std::move(body);
    return r;
}

control_response as_response(const readiness& r)
{
    const bool ready = r.reasons.empty();
    boost::json::array servers;
    for (const auto& [upstream, server] : r.servers_down) {
        servers.push_back({{"upstream", upstream}, {"server", server}});
    }
    const boost::json::value body{
        {"ready", ready},
        {"reasons", boost::json::value_from(r.reasons)},
        {"stores_down", boost::json::value_from(r.stores_down)},
        {"servers_down", servers},
    };
    return plain(
        ready ? status::ok : status::service_unavailable,
        "application/json",
        boost::json::serialize(body) + "\n"
    );
}

control_response respond(const control_request& asked, const admin_server::sources& from)
{
    if (asked.method() != verb::get && asked.method() != verb::head) {
        control_response r = plain(status::method_not_allowed, "text/plain", "only GET and HEAD\n");
        r.set(field::allow, "GET, HEAD");
        return r;
    }
    const auto path = asked.target().substr(0, asked.target().find('?'));
    if (path == "/metrics") {
        return plain(status::ok, "text/plain; version=0.0.4; charset=utf-8", from.metrics());
    }
    if (path == "/healthz") {
        return plain(status::ok, "application/json", "{\"healthy\":true}\n");
    }
    if (path == "/readyz") {
        return as_response(from.ready());
    }
    return plain(status::not_found, "text/plain", "try /metrics, /healthz or /readyz\n");
}

}  // namespace

struct admin_server::state {
    struct guest {
        control_stream connection;
        bool turned_out = false;
    };

    using guests = std::list<guest>;

    acceptor listening;
    admin_options options;
    sources from;
    // Those that have kept us waiting longest come first.
    guests present{};
    // Closed, and about to notice it.
    guests leaving{};

    static net::task<> listen(std::shared_ptr<state> s);
    static net::task<> serve_one(std::shared_ptr<state> s, guests::iterator g);
    net::task<> serve(guests::iterator g);
    void begin_waiting_for(guests::iterator g);
    void make_room();
};

void admin_server::state::begin_waiting_for(guests::iterator g)
{
    if (!g->turned_out) {
        present.splice(present.end(), present, g);
    }
}

void admin_server::state::make_room()
{
    while (present.size() >= options.max_connections) {
        const auto oldest = present.begin();
        oldest->turned_out = true;
        oldest->connection.close();
        leaving.splice(leaving.end(), present, oldest);
    }
}

net::task<> admin_server::state::serve(guests::iterator g)
{
    control_stream& s = g->connection;
    beast::flat_buffer buffer;
    bool keep_alive = true;
    while (keep_alive) {
        beast::http::request_parser<beast::http::empty_body> parser;
        s.expires_after(options.timeout);
        begin_waiting_for(g);
        if (co_await read(s, buffer, parser)) {
            break;
        }
        begin_waiting_for(g);
        control_response answer = respond(parser.get(), from);
        answer.keep_alive(parser.get().keep_alive());
        answer.prepare_payload();
        keep_alive = answer.keep_alive();
        if (parser.get().method() == verb::head) {
            answer.body().clear();
        }
        if (co_await write(s, answer)) {
            break;
        }
    }
}

net::task<> admin_server::state::serve_one(std::shared_ptr<state> s, guests::iterator g)
{
    co_await s->serve(g);
    (g->turned_out ? s->leaving : s->present).erase(g);
}

net::task<> admin_server::state::listen(std::shared_ptr<state> s)
{
    net::timer rest(s->listening.get_executor());
    while (s->listening.is_open()) {
        net::stream_socket peer(s->listening.get_executor());
        auto [ec] = co_await s->listening.async_accept(peer, net::use_task);
        if (ec) {  // out of descriptors, perhaps: do not spin
            co_await net::pause(rest, net::listener::pause_after_failure);
        } else {
            s->make_room();
            const auto g =
                s->present.insert(s->present.end(), guest{control_stream(std::move(peer))});
            asio::co_spawn(s->listening.get_executor(), serve_one(s, g), asio::detached);
        }
    }
}

admin_server::admin_server(
    asio::io_context& context, net::socket listening, const admin_options& options, sources from
)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(listening.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    const protocol family(address.ss_family, 0);
    state_ = std::make_shared<state>(state{
        acceptor(context.get_executor(), family, listening.release()), options, std::move(from)});
    asio::co_spawn(context.get_executor(), state::listen(state_), asio::detached);
}

admin_server::~admin_server() = default;

}  // namespace gateway::server
