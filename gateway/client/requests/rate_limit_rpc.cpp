#include "gateway/client/requests/rate_limit_rpc.hpp"

#include "gateway/base/text.hpp"
#include "gateway/client/requests/request_names.hpp"

#include <algorithm>

namespace gateway::client {

namespace {

using http::grpc_status;

std::string_view content_type_of(const http::request_head& head)
{
    const auto found = std::find_if(head.fields.begin(), head.fields.end(), [](const auto& f) {
        return base::equal_ignoring_case(f.name, "content-type");
    });
    return found == head.fields.end() ? std::string_view{} : found->value;
}

// Returns why the head is not that of a call which can be served, or an empty text.
std::string_view complaint_about(const http::request_head& head)
{
    if (head.method != "POST" || !http::is_protobuf_grpc_type(content_type_of(head))) {
        return "only gRPC with protobuf is served here";
    }
    return head.target == rate_limit_method ? "" : "only ShouldRateLimit is served here";
}

}  // namespace

void rate_limit_rpc::begin(
    const http::request_head& head, request_host& host, std::string_view service
)
{
    record_.arrive(
        env_.view, host.peer(), host.is_secure(), host.client_tls(), env_.loop.clock().now()
    );
    const auto& services = record_.view->policy->services;
    const auto found = std::find_if(services.begin(), services.end(), [service](const auto& s) {
        return s.name == service;
    });
    service_ = &*found;
    host_ = &host;
    record_.route = &service_->as_route;
    record_.is_grpc = true;
    record_.metrics = record_.view->services[static_cast<std::size_t>(found - services.begin())];
    body_.clear();
    body_bytes_ = 0;
    give_id(record_, env_.ids, env_.loop.now());
    take_names(record_, head, env_.ids);
    account_.begin();
    account_.note(head, record_);
    if (const std::string_view complaint = complaint_about(head); !complaint.empty()) {
        answer({.status = grpc_status::unimplemented, .detail = complaint});
    }
}

void rate_limit_rpc::content(std::string_view bytes, bool last)
{
    if (!is_open() || asked_) {
        return;
    }
    body_bytes_ += bytes.size();
    body_ += bytes;
    const http::grpc_body body = http::read_grpc_body(body_, last, envoy::max_request_bytes);
    switch (body.is) {
        case http::grpc_body::state::incomplete:
            return;
        case http::grpc_body::state::refused:
            answer({.status = body.status, .detail = body.detail});
            return;
        case http::grpc_body::state::whole:
            break;
    }
    if (const auto answered = admitter_.admit(*service_, body.message, *this)) {
        answer(*answered);
    } else {
        asked_ = true;
    }
}

void rate_limit_rpc::decided(const limits::verdict& v)
{
    env_.loop.refresh_now();
    asked_ = false;
    answer(admitter_.conclude(v));
    host_->after_event(true);
}

void rate_limit_rpc::abandon()
{
    if (is_open()) {
        admitter_.abandon();
        record_.grpc_status = grpc_status::cancelled;
        end({.request_bytes = body_bytes_, .error = "the client gave the call up"});
    }
}

void rate_limit_rpc::answer(const limits::descriptor_answer& a)
{
    answer_.clear();
    if (a.status == grpc_status::ok) {
        const auto prefix = http::grpc_prefix(static_cast<std::uint32_t>(a.message.size()));
        answer_.append(prefix.data(), prefix.size()).append(a.message);
        record_.reserved.passes(env_.fallback_debts);
    }
    if (record_.refused_for) {
        http::request_head call;
        call.method = "POST";
        call.path = rate_limit_method;
        account_.may_be_rejected(call);
    }
    record_.grpc_status = a.status;
    end({
        .status = 200,
        .request_bytes = body_bytes_,
        .response_bytes = answer_.size(),
        .error = a.detail,
    });
    carrier_.rpc_answered({.status = a.status, .detail = a.detail, .body = answer_});
}

void rate_limit_rpc::end(const limits::finished& f)
{
    record_.end = f;
    account_.end(record_);
    record_.reserved.clear();
    service_ = nullptr;
    asked_ = false;
}

}  // namespace gateway::client
