#include "gateway/store/postgres/session.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <netinet/in.h>
#include <utility>

namespace gateway::store::postgres {

namespace {

constexpr net::resolver_options only_when_asked{
    .refresh = net::resolver_options::never, .retry = net::resolver_options::never};

// How long a fresh look-up is awaited when the addresses of an older one are at hand.
constexpr base::duration fresh_lookup = std::chrono::milliseconds{100};

// How much longer than for a lock a server may work on a statement of ours.
constexpr base::duration statement_work = std::chrono::milliseconds{250};

// What the server's session is told: one plan for all calls, by the primary key, also while the
// table's statistics are of another time; how transactions see each other, whatever the database's
// default; and when a statement is given up, and how long a lock is waited for.
void add_settings(
    std::vector<std::pair<std::string, std::string>>& parameters,
    const postgres_options& options,
    base::duration limit
)
{
    const base::duration statement_limit = std::max(limit, options.timeout + statement_work);
    const std::string settings =
        "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off "
        "-c enable_mergejoin=off -c default_transaction_isolation=read\\ committed "
        "-c statement_timeout=" +
        std::to_string(statement_limit / std::chrono::milliseconds{1}) +
        " -c lock_timeout=" + std::to_string(session::lock_wait(options));
    for (auto& [name, value] : parameters) {
        if (name == "options") {
            value += ' ' + settings;
            return;
        }
    }
    parameters.emplace_back("options", settings);
}

std::string text_of(const net::resolved_name::endpoint& at)
{
    const auto* const any = static_cast<const sockaddr*>(static_cast<const void*>(at.data()));
    if (any->sa_family == AF_INET) {
        const auto* const v4 = static_cast<const sockaddr_in*>(static_cast<const void*>(any));
        return boost::asio::ip::address_v4{ntohl(v4->sin_addr.s_addr)}.to_string();
    }
    const auto* const v6 = static_cast<const sockaddr_in6*>(static_cast<const void*>(any));
    boost::asio::ip::address_v6::bytes_type bytes;
    std::copy_n(std::begin(v6->sin6_addr.s6_addr), bytes.size(), bytes.begin());
    return boost::asio::ip::address_v6{bytes, v6->sin6_scope_id}.to_string();
}

}  // namespace

session::session(
    const net::executor& executor, const postgres_options& options, base::duration limit
)
    : executor_(executor),
      options_(options),
      limit_(limit),
      descriptor_(executor),
      lookup_wait_(executor),
      timer_(executor),
      self_(std::make_shared<session*>(this))
{
    for (const net::server_address& s : options_.servers) {
        names_.push_back(net::resolved_name::of(
            executor,
            s,
            only_when_asked,
            [this, number = names_.size()] {
                if (number == server_) {
                    lookup_wait_.cancel();
                }
            }
        ));
    }
}

std::int64_t session::lock_wait(const postgres_options& options)
{
    return std::max<std::int64_t>(options.timeout / std::chrono::milliseconds{1}, 1);
}

std::string session::address() const
{
    const net::server_address& s = options_.servers[server_];
    return s.text();
}

void session::close()
{
    if (descriptor_.is_open()) {
        descriptor_.release();  // the socket is libpq's
    }
    connection_.reset();
}

void session::cancel()
{
    cancelled_ = true;
    for (net::resolved_name& n : names_) {
        n.stop();
    }
    lookup_wait_.cancel();
    end_limit();
    close();
}

void session::fail(failure why)
{
    trouble_ = {.why = why, .words = {}};
}

net::task<bool> session::open()
{
    close();
    fail(failure::unreachable);
    expired_ = false;
    for (std::size_t tried = 0; tried < names_.size() && !cancelled_; ++tried) {
        const std::size_t server = server_;
        co_await look_up(server);
        const auto known = names_[server].endpoints();  // of which there may be others meanwhile
        const std::vector<net::resolved_name::endpoint> addresses(known.begin(), known.end());
        if (addresses.empty()) {
            const std::string& said = names_[server].error();
            trouble_.words =
                options_.servers[server].host + ": " + (said.empty() ? "no address yet" : said);
        }
        for (std::size_t i = 0; i < addresses.size() && !cancelled_; ++i) {
            begin_limit();
            const bool is_open = co_await open_one(server, addresses[i]);
            end_limit();
            if (is_open && co_await check_settings()) {
                co_return true;
            }
            close();
        }
        server_ = (server + 1) % names_.size();
    }
    co_return false;
}

net::task<> session::look_up(std::size_t server)
{
    if (!cancelled_ && names_[server].ask()) {
        co_await net::pause(
            lookup_wait_, names_[server].endpoints().empty() ? limit_ : fresh_lookup
        );
    }
}

// False: libpq has no memory.
bool session::begin(std::size_t server, const net::resolved_name::endpoint& at)
{
    const net::server_address& to = options_.servers[server];
    std::vector<std::pair<std::string, std::string>> all = options_.parameters;
    if (to.socket_path.empty()) {
        all.emplace_back("host", to.host);
        all.emplace_back("hostaddr", text_of(at));
    } else {
        all.emplace_back("host", to.socket_path);
    }
    all.emplace_back("port", to.port);
    if (!options_.password.empty()) {
        all.emplace_back("password", options_.password);
    }
    if (!is_pooled_) {
        add_settings(all, options_, limit_);
    }
    std::vector<const char*> words{
        "target_session_attrs", "gssencmode", "fallback_application_name"};
    std::vector<const char*> values{"read-write", "disable", "gateway"};
    for (const auto& [word, value] : all) {
        words.push_back(word.c_str());
        values.push_back(value.c_str());
    }
    words.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectStartParams(words.data(), values.data(), 0));
    if (connection_ == nullptr) {
        return false;
    }
    PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);
    // Else libpq writes what the server remarks to stderr.
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr
    );
    return true;
}

// Some poolers drop what a session is told (ignore_startup_parameters of pgbouncer). False: the
// server does not answer.
net::task<bool> session::check_settings()
{
    if (is_pooled_) {
        co_return true;
    }
    const std::string sql =
        "SELECT current_setting('plan_cache_mode') = 'force_generic_plan' AND setting = $1 "
        "FROM pg_settings WHERE name = 'lock_timeout'";
    const std::vector<std::string> told{std::to_string(lock_wait(options_))};
    const result rows = co_await ask(sql, told);
    if (rows == nullptr) {
        co_return false;
    }
    is_pooled_ =
        PQntuples(rows.get()) != 1 || PQgetvalue(rows.get(), 0, 0) != std::string_view{"t"};
    co_return true;
}

// libpq may have closed its socket and opened another of the same number since the last time.
net::task<bool> session::open_one(std::size_t server, const net::resolved_name::endpoint& at)
{
    if (!begin(server, at)) {
        fail(failure::unreachable);
        co_return false;
    }
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    if (PQstatus(connection_.get()) == CONNECTION_BAD) {
        next = PGRES_POLLING_FAILED;
    }
    while (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) {
        if (!take_socket()) {
            co_return false;
        }
        const bool ready = co_await wait(
            next == PGRES_POLLING_READING ? descriptor::wait_read : descriptor::wait_write
        );
        if (!ready) {
            fail(expired_ ? failure::timeout : failure::unreachable);
            co_return false;
        }
        descriptor_.release();
        next = PQconnectPoll(connection_.get());
    }
    if (next == PGRES_POLLING_FAILED) {
        const std::string_view words = PQerrorMessage(connection_.get());
        if (!is_pooled_ && words.find("unsupported startup parameter") != words.npos) {
            is_pooled_ = true;  // as pgbouncer before 1.20 says
            const bool is_open = co_await open_one(server, at);
            co_return is_open;
        }
        trouble_ = trouble_in(words);
        co_return false;
    }
    co_return take_socket() && PQsetnonblocking(connection_.get(), 1) == 0;
}

// False: the system does not let us wait for it.
bool session::take_socket()
{
    boost::system::error_code ec;
    descriptor_.assign(PQsocket(connection_.get()), ec);
    if (ec) {
        trouble_ = {.why = failure::unreachable, .words = ec.message()};
    }
    return !ec;
}

net::task<bool> session::wait(descriptor::wait_type what)
{
    const auto [ec] = co_await descriptor_.async_wait(what, net::use_task);
    co_return !ec && !expired_ && !cancelled_ && connection_ != nullptr;
}

void session::begin_limit()
{
    expired_ = false;
    timer_.expires_after(limit_);
    timer_.async_wait([of = self_, mine = ++wait_](const boost::system::error_code& ec) {
        if (!ec && *of != nullptr && (*of)->wait_ == mine) {
            (*of)->expired_ = true;
            (*of)->descriptor_.cancel();
        }
    });
}

void session::end_limit()
{
    ++wait_;
    timer_.cancel();
}

net::task<session::result> session::ask(
    const std::string& sql, const std::vector<std::string>& parameters
)
{
    result rows{nullptr, &PQclear};
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const std::string& p : parameters) {
        values.push_back(p.c_str());
    }
    const int sent = parameters.empty() ? PQsendQuery(connection_.get(), sql.c_str())
                                        : PQsendQueryParams(
                                              connection_.get(),
                                              sql.c_str(),
                                              static_cast<int>(values.size()),
                                              nullptr,
                                              values.data(),
                                              nullptr,
                                              nullptr,
                                              0
                                          );
    begin_limit();
    bool alive = sent == 1;
    while (alive && PQflush(connection_.get()) == 1) {
        alive = co_await wait(descriptor::wait_write);
    }
    while (alive) {
        while (alive && PQisBusy(connection_.get()) == 1) {
            alive = co_await wait(descriptor::wait_read) && PQconsumeInput(connection_.get()) == 1;
        }
        PGresult* const next = alive ? PQgetResult(connection_.get()) : nullptr;
        if (next == nullptr) {
            break;
        }
        const bool bad = rows != nullptr && PQresultStatus(rows.get()) == PGRES_FATAL_ERROR;
        result other{next, &PQclear};
        if (!bad) {
            rows.swap(other);
        }
    }
    end_limit();
    // Why the server ends the connection it says before that.
    const bool refused = rows != nullptr && PQresultStatus(rows.get()) == PGRES_FATAL_ERROR;
    if (refused) {
        trouble_ = trouble_of(*rows);
    } else if (!alive || rows == nullptr) {
        note_loss();
    }
    if (!alive || rows == nullptr) {
        close();
    }
    if (refused || !alive) {
        rows.reset();
    }
    co_return rows;
}

void session::note_loss()
{
    if (expired_ || connection_ == nullptr) {
        fail(expired_ ? failure::timeout : failure::unreachable);
    } else {
        trouble_ = trouble_of_loss(PQerrorMessage(connection_.get()));
    }
}

trouble trouble_of(const PGresult& result)
{
    const char* const code = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
    const char* const words = PQresultErrorField(&result, PG_DIAG_MESSAGE_PRIMARY);
    return code == nullptr ? trouble_of_loss(PQresultErrorMessage(&result))
                           : trouble_of(code, words == nullptr ? "" : words);
}

}  // namespace gateway::store::postgres
