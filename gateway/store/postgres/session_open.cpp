// Opens a session: finds a server, connects to it, and checks the settings of its session.
#include "gateway/net/socket.hpp"
#include "gateway/store/postgres/connect_parameters.hpp"
#include "gateway/store/postgres/session.hpp"

#include <cerrno>
#include <fcntl.h>

namespace gateway::store::postgres {

net::task<bool> session::open()
{
    close();
    fail(failure::unreachable);
    expired_ = false;
    for (std::size_t tried = 0; tried < names_.size() && !cancelled_; ++tried) {
        const std::size_t server = server_;
        co_await names_[server].look_up();
        const auto known = names_[server].endpoints();  // copied, as there may be others meanwhile
        const std::vector<net::resolved_name::endpoint> addresses(known.begin(), known.end());
        if (addresses.empty()) {
            const std::string& error = names_[server].error();
            trouble_.words =
                options_.servers[server].host + ": " + (error.empty() ? "no address yet" : error);
        }
        for (std::size_t i = 0; i < addresses.size() && !cancelled_; ++i) {
            begin_limit();
            const bool is_open = co_await open_one(server, addresses[i]);
            too_long_.cancel();
            if (is_open && co_await check_settings()) {
                co_return true;
            }
            close();
        }
        server_ = (server + 1) % names_.size();
    }
    co_return false;
}

// Connects to one address. Takes the socket anew for each wait, as libpq may have closed its own
// and opened another of the same number since the last one.
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
        let_go_of_socket();
        next = PQconnectPoll(connection_.get());
    }
    if (next == PGRES_POLLING_FAILED) {
        const std::string_view words = PQerrorMessage(connection_.get());
        if (!is_pooled_ && words.find("unsupported startup parameter") != words.npos) {
            is_pooled_ = true;  // pgbouncer before 1.20 says so
            const bool is_open = co_await open_one(server, at);
            co_return is_open;
        }
        trouble_ = trouble_in(words);
        co_return false;
    }
    co_return take_socket() && PQsetnonblocking(connection_.get(), 1) == 0;
}

// Begins to connect. Returns false if libpq has no memory.
bool session::begin(std::size_t server, const net::resolved_name::endpoint& at)
{
    const connect_parameters all = parameters_to(
        options_, options_.servers[server], at, is_pooled_ ? std::nullopt : std::optional{limit_}
    );
    std::vector<const char*> words;
    std::vector<const char*> values;
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
    // Otherwise libpq writes the server's notices to stderr.
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr
    );
    return true;
}

// Duplicates libpq's descriptor of its socket: libpq closes its own without notice, and another
// thread may have that number for something else by the time that this is noticed. Returns false if
// the system does not let us wait for it.
bool session::take_socket()
{
    net::socket own(::fcntl(PQsocket(connection_.get()), F_DUPFD_CLOEXEC, 0));
    boost::system::error_code ec{errno, boost::system::system_category()};
    if (own.is_open()) {
        descriptor_.assign(own.fd(), ec);
    }
    if (ec) {
        trouble_ = {.why = failure::unreachable, .words = ec.message()};
        return false;
    }
    (void)own.release();
    return true;
}

void session::let_go_of_socket()
{
    boost::system::error_code ignored;
    descriptor_.close(ignored);
}

// Finds out if a pooler has dropped the settings, as some do (ignore_startup_parameters of
// pgbouncer). Returns false if the server does not answer.
net::task<bool> session::check_settings()
{
    if (is_pooled_) {
        co_return true;
    }
    const std::string sql =
        "SELECT current_setting('plan_cache_mode') = 'force_generic_plan' AND setting = $1 "
        "FROM pg_settings WHERE name = 'lock_timeout'";
    const std::vector<std::string> parameters{std::to_string(lock_wait(options_))};
    const result rows = co_await ask(sql, parameters);
    if (rows == nullptr) {
        co_return false;
    }
    is_pooled_ =
        PQntuples(rows.get()) != 1 || PQgetvalue(rows.get(), 0, 0) != std::string_view{"t"};
    co_return true;
}

}  // namespace gateway::store::postgres
