#include "gateway/store/postgres/link.hpp"

#include "gateway/store/postgres/connect_parameters.hpp"
#include "gateway/store/postgres/parameters.hpp"
#include "gateway/store/remote/reply_parser.hpp"

#include <utility>

namespace gateway::store::postgres {

namespace {

// Unit of the rest of a call that others were in the way of. The n-th rest takes at most 2^n units.
constexpr base::duration first_rest = std::chrono::milliseconds{1};

}  // namespace

statement_form link::form() const
{
    statement_form f{.key_prefix = options_.key_prefix, .pooled_wait = std::nullopt};
    if (session_.is_pooled()) {
        f.pooled_wait = lock_wait(options_);
    }
    return f;
}

void link::send(const call& c)
{
    send_statement(
        {.number = c.number, .words = take(c, form(), base::unix_time()), .sent = base::now()}
    );
}

void link::send_probe(std::int64_t number)
{
    send_statement({.number = number, .words = probe(number, form()), .sent = base::now()});
}

void link::send_statement(sent_statement s)
{
    PGconn* const to = session_.connection();
    std::vector<const char*> values;
    std::vector<int> sizes;
    std::vector<int> formats;
    for (const statement::value& v : s.words.values) {
        values.push_back(v.bytes.c_str());
        sizes.push_back(static_cast<int>(v.bytes.size()));
        formats.push_back(v.is_binary ? 1 : 0);
    }
    const int count = static_cast<int>(values.size());
    // If libpq has no memory to send it, the next result does not have its number, and the
    // connection is given up. A broken connection is noticed when it is read.
    if (s.words.sql.empty()) {
        PQsendQueryPrepared(
            to, s.words.prepared, count, values.data(), sizes.data(), formats.data(), 1
        );
    } else {
        std::vector<Oid> types;
        for (const statement::value& v : s.words.values) {
            types.push_back(v.type);
        }
        PQsendQueryParams(
            to,
            s.words.sql.c_str(),
            count,
            types.data(),
            values.data(),
            sizes.data(),
            formats.data(),
            1
        );
    }
    PQpipelineSync(to);
    statements_.push() = std::move(s);
    flush();
}

void link::flush()
{
    if (writing_ || PQflush(session_.connection()) != 1) {
        return;
    }
    writing_ = true;
    session_.socket().async_wait(
        boost::asio::posix::descriptor_base::wait_write,
        [self = self(), mine = era_](const boost::system::error_code& ec) {
            if (!ec && self->era_ == mine) {
                self->writing_ = false;
                self->flush();
            }
        }
    );
}

void link::watch()
{
    session_.socket().async_wait(
        boost::asio::posix::descriptor_base::wait_read,
        [self = self(), mine = era_](const boost::system::error_code& ec) {
            if (ec || self->era_ != mine) {
                return;
            }
            self->receive();
            if (self->era_ == mine) {
                self->watch();
            }
        }
    );
}

// Takes what has arrived. The connection may be lost, or closed by somebody who was called.
void link::receive()
{
    if (PQconsumeInput(session_.connection()) != 1) {
        lose(end_of_connection());
        return;
    }
    if (read_results()) {
        conversation().turn_ended(base::now());
    }
}

// Reads results. Returns false if the connection is lost.
bool link::read_results()
{
    PGconn* const from = session_.connection();
    bool at_end = false;
    while (!statements_.empty() && PQisBusy(from) == 0) {
        const session::result r{PQgetResult(from), &PQclear};
        if (r == nullptr && std::exchange(at_end, true)) {
            break;  // nothing is there: a statement could not be sent, and will be late
        }
        if (r == nullptr) {
            continue;  // the end of one statement's results
        }
        at_end = false;
        if (PQresultStatus(r.get()) != PGRES_PIPELINE_SYNC) {
            note(statements_.front(), *r);
            continue;
        }
        sent_statement done = std::move(statements_.front());
        statements_.pop();
        const std::uint64_t mine = era_;
        if (!settle(std::move(done)) || era_ != mine) {
            return false;
        }
    }
    if (PQstatus(from) == CONNECTION_BAD) {
        lose(end_of_connection());
        return false;
    }
    return true;
}

void link::note(sent_statement& s, const PGresult& r)
{
    if (PQresultStatus(&r) == PGRES_TUPLES_OK && PQntuples(&r) == 1) {
        const auto size = static_cast<std::size_t>(PQgetlength(&r, 0, 0));
        s.numbers = decode_numbers({PQgetvalue(&r, 0, 0), size});
        return;
    }
    // The first reason counts: the server says why it ends a connection before libpq says that it
    // has ended.
    if (!s.why) {
        s.why = trouble_of(r);
    }
}

// Returns the server's reason if it gave one, otherwise libpq's.
trouble link::end_of_connection()
{
    if (!statements_.empty() && statements_.front().why) {
        return *statements_.front().why;
    }
    return trouble_of_loss(PQerrorMessage(session_.connection()));
}

// Takes the outcome of a statement. Returns false if the connection is lost.
bool link::settle(sent_statement s)
{
    if (s.why && s.why->reconnect) {
        lose(*s.why);
        return false;
    }
    if (s.why && repeats(s)) {
        return true;
    }
    if (s.why) {
        group_->note(s.why->why, s.why->words);
        conversation().refused(s.number, s.why->why, taken::no, base::now());
        return true;
    }
    const std::vector<std::int64_t> nothing;
    reply_parser reply{s.numbers ? *s.numbers : nothing, s.words.shape};
    if (!reply.begins() || reply.number() != s.number) {
        lose({.why = failure::protocol, .words = {}});
        return false;
    }
    return conversation().answered(s.number, reply, base::now());
}

// Sends a statement again after a moment, within the same deadline, if others were in its way and
// nothing was done. Returns false if that was not so, or it has been repeated often enough.
bool link::repeats(sent_statement& s)
{
    if (!s.why->try_again || ++s.tries >= most_tries || base::now() - s.sent >= options_.timeout) {
        return false;
    }
    s.why.reset();
    const auto most = static_cast<double>((first_rest * (1 << s.tries)).count());
    repeated_.push_back(std::move(s));
    repeat_timer_.expires_after(base::duration{static_cast<std::int64_t>(most * chance())});
    repeat_timer_.async_wait([self = self(), mine = era_](const boost::system::error_code& ec) {
        if (ec || self->era_ != mine) {
            return;
        }
        for (sent_statement& again : std::exchange(self->repeated_, {})) {
            self->send_statement(std::move(again));
        }
    });
    return true;
}

}  // namespace gateway::store::postgres
