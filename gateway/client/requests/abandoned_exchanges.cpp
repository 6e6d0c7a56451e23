#include "gateway/client/requests/abandoned_exchanges.hpp"

#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/settlement.hpp"

#include <algorithm>
#include <utility>

namespace gateway::client {

// `exchange` is the shell of an abandoned_state: its connection and its deadline.
class abandoned_exchanges::exchange final : private proxy::answer_port,
                                            private proxy::lessee,
                                            private base::timer_entry {
public:
    exchange(abandoned_exchanges& all, abandoned_request&& of, proxy::answer_state&& answer)
        : all_(all),
          of_(std::move(of)),
          server_(of_.carrier.server()),
          reused_(of_.carrier.reused()),
          state_(*this, std::move(answer), of_.until)
    {
        of_.carrier.lease_to(this);
        all.loop_.wheel().arm(*this, all.loop_.now() + of_.time);
        state_.start();
        of_.carrier.await_bytes();
    }

    // Its position in the list.
    std::list<exchange>::iterator self;

    const abandoned_request& of() const { return of_; }

    bool finishes() const { return state_.finishes(); }

    void abort()
    {
        state_.abort();
        remove_if_over();
    }

private:
    abandoned_exchanges& all_;
    abandoned_request of_;
    const std::size_t server_;
    bool reused_;
    proxy::abandoned_state state_;

    void remove_if_over()
    {
        if (state_.over()) {
            if (!of_.reserved.empty()) {
                correct_at_end();
            }
            of_.reserved.ended(all_.corrections_, all_.permit_leases_);
            all_.remove(*this);
        }
    }

    // Corrects the charges that wait for the end of the response. If that never came, what has been
    // seen of it counts for those that go by its content.
    void correct_at_end()
    {
        const auto trailers = state_.trailers();
        const policy::response_end end{
            .usage = of_.usage.get(),
            .request_bytes = of_.request_bytes,
            .response_bytes = state_.response_bytes(),
            .given_up = !trailers};
        const auto outcome = trailers ? std::optional{of_.grpc.ended(*trailers)} : std::nullopt;
        correct({.status = state_.status(), .grpc = outcome, .end = &end});
    }

    // Corrects the charges that go by this outcome.
    void correct(const policy::response_result& as)
    {
        of_.reserved.responded(as, nullptr, all_.corrections_, nullptr);
    }

    // answer_port
    void end_sending_upstream() override { of_.carrier.end_sending(); }

    void release(disposition how) override { of_.pool.release(of_.carrier, how); }

    void responded(http::response_head& head) override
    {
        if (finishes()) {
            of_.pool.conduct().responded(server_, head.status, all_.loop_.now() - of_.sent_at);
            of_.reserved.responded({.status = head.status}, &head, all_.corrections_, nullptr);
            of_.grpc.read(head);
            if (of_.route.reads_usage) {
                of_.usage = limits::make_usage_reader(of_.view->policy->response_paths, head);
            }
        }
    }

    bool reads_content() const override { return of_.usage != nullptr; }

    void content_came(std::string_view content) override { of_.usage->read(content); }

    void interim_responded(http::response_head&) override {}

    void failed(proxy::failure why, bool begun) override
    {
        of_.pool.conduct().count_failure(why);
        if (!begun) {
            const int status = proxy::status_for(why);
            of_.pool.conduct().did_not_respond(server_, why, reused_);
            correct({status, http::own_grpc_status(status, proxy::is_after_sending(why))});
        } else {
            correct({of_.grpc.status(), http::grpc_status::unknown});
        }
    }

    http::response_head& response_head_storage() override { return all_.scratch_.response; }

    const http::options& limits() const override { return of_.view->http_of(&of_.route); }

    const proxy::upstream_options& upstream() const override { return of_.pool.options(); }

    // lessee
    void upstream_readable() override
    {
        std::span<char> bytes;
        const net::received got = of_.carrier.receive_text(bytes);
        if (got == net::received::data) {
            state_.upstream_bytes(bytes);
        } else if (got != net::received::nothing) {
            reused_ = of_.carrier.reused();
            state_.upstream_closed(got == net::received::closed);
        }
        if (!state_.over()) {
            of_.carrier.await_bytes();
        }
        remove_if_over();
    }

    void upstream_backlog_changed() override {}

    void upstream_drained() override {}

    void upstream_broken() override { of_.carrier.await_bytes(); }

    // timer_entry
    void expired(base::instant) override
    {
        all_.loop_.refresh_now();
        state_.expired();
        remove_if_over();
    }
};

abandoned_exchanges::abandoned_exchanges(
    net::loop& l,
    limits::corrections& make,
    limits::permit_leases& leases,
    limits::scratch& memory,
    telemetry::gauge& count
)
    : loop_(l), corrections_(make), permit_leases_(leases), scratch_(memory), count_(count)
{}

abandoned_exchanges::~abandoned_exchanges() = default;

bool abandoned_exchanges::has_room(bool holds_permit) const
{
    return all_.size() < most && (holds_permit || without_permit_ < most_without_permit);
}

void abandoned_exchanges::keep(abandoned_request of, proxy::answer_state&& answer)
{
    count_.add(1);
    without_permit_ += of.holds_permit ? 0 : 1;
    exchange& e = all_.emplace_back(*this, std::move(of), std::move(answer));
    e.self = std::prev(all_.end());
}

bool abandoned_exchanges::any_to_finish() const
{
    return std::any_of(all_.begin(), all_.end(), [](const exchange& e) { return e.finishes(); });
}

void abandoned_exchanges::close()
{
    while (!all_.empty()) {
        all_.front().abort();
    }
}

void abandoned_exchanges::remove(exchange& e)
{
    count_.add(-1);
    without_permit_ -= e.of().holds_permit ? 0 : 1;
    all_.erase(e.self);
}

}  // namespace gateway::client
