#include "gateway/store/postgres/session.hpp"

namespace gateway::store::postgres {

session::session(
    const net::executor& executor, const postgres_options& options, base::duration limit
)
    : executor_(executor),
      options_(options),
      limit_(limit),
      descriptor_(executor),
      too_long_(executor, [this] {
          expired_ = true;
          descriptor_.cancel();
      })
{
    for (const net::server_address& s : options_.servers) {
        names_.emplace_back(executor, s, limit);
    }
}

std::string session::address() const
{
    const net::server_address& s = options_.servers[server_];
    return s.text();
}

void session::close()
{
    let_go_of_socket();
    connection_.reset();
}

void session::cancel()
{
    cancelled_ = true;
    for (net::fresh_name& n : names_) {
        n.stop();
    }
    too_long_.cancel();
    close();
}

void session::fail(failure why)
{
    trouble_ = {.why = why, .words = {}};
}

net::task<bool> session::wait(descriptor::wait_type what)
{
    const auto [ec] = co_await descriptor_.async_wait(what, net::use_task);
    co_return !ec && !expired_ && !cancelled_ && connection_ != nullptr;
}

void session::begin_limit()
{
    expired_ = false;
    too_long_.set(limit_);
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
    too_long_.cancel();
    // The server says why it ends the connection before it does so.
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
