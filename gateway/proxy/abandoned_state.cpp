#include "gateway/proxy/abandoned_state.hpp"

namespace gateway::proxy {

void abandoned_state::start()
{
    if (!finishes()) {
        port_.end_sending_upstream();
    }
}

void abandoned_state::upstream_bytes(std::span<char> bytes)
{
    const answer_state::progress is = answer_.read(bytes, port_, *this);
    if (is == answer_state::progress::malformed) {
        fail(failure::bad_response);
    } else if (is == answer_state::progress::switched || (answer_.begun() && !finishes())) {
        end(answer_port::disposition::close);
    } else if (is == answer_state::progress::complete) {
        trailers_.emplace(answer_.trailers());
        end(answer_.disposition_after(bytes.size()));
    }
}

void abandoned_state::upstream_closed(bool orderly)
{
    if (orderly && answer_.ends_here()) {
        trailers_.emplace();
        end(answer_port::disposition::close);
    } else {
        fail(failure::reset);
    }
}

// Closes the connection without a failure if a response has begun: it may be one without an end.
void abandoned_state::expired()
{
    if (answer_.begun()) {
        end(answer_port::disposition::close);
    } else {
        fail(failure::response_timeout);
    }
}

void abandoned_state::abort()
{
    end(answer_port::disposition::close);
}

// Reports a failure only if the response was to be read to its end. A server that was told that
// nobody waits has failed nobody.
void abandoned_state::fail(failure why)
{
    end(answer_port::disposition::close);
    if (finishes()) {
        port_.failed(why, answer_.begun());
    }
}

void abandoned_state::end(answer_port::disposition how)
{
    over_ = true;
    port_.release(how);
}

}  // namespace gateway::proxy
