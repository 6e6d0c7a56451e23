// `request_account` records each request: counters, histograms, and the access log.
// Ownership: a request.
// Thread: one thread only.
#pragma once

#include "gateway/client/requests/request_spans.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/limits/request_record.hpp"
#include "gateway/proxy/tunnel_state.hpp"

#include <memory>

namespace gateway::client {

class request_account {
public:
    explicit request_account(session_environment& env) : env_(env) {}

    void begin();
    // Notes what is recorded of a head.
    void note(const http::request_head& head, const limits::request_record& of);
    // Keeps the request's text for the list of rejections, as its limits have refused it, or may
    // do so after the head is gone.
    void may_be_rejected(const http::request_head& head);
    // Records the handshake of a tunnel, which is over. The hours of the tunnel must not look like
    // a slow response.
    void tunnel_begins(const limits::request_record& of);
    void tunnel_carries(proxy::tunnel_side from, std::size_t bytes);
    void end(const limits::request_record& of);

private:
    session_environment& env_;
    // Index of the request method's metrics label.
    std::size_t method_ = 0;
    // Text of the request for the log, for spans and for the list of rejections; null if none of
    // these needs it.
    std::unique_ptr<kept_text> text_;

    void count(int status, bool intended, const limits::request_record& of);
    void note_untrusted_forwarding(const http::request_head& head, const base::ip_address& peer);
    void keep_text(const http::request_head& head);
    void note_rejection(const limits::request_record& of);
    void log(const limits::request_record& of);
    void record_spans(const limits::request_record& of);
};

}  // namespace gateway::client
