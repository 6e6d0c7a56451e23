// `descriptor_admitter` answers requests of Envoy to a rate-limit service: it decodes a request,
// has all its descriptors decided together, all or nothing, and encodes the answer. It serves one
// request at a time, as `admitter` does for HTTP, and borrows the limit check likewise.
#pragma once

#include "gateway/envoy/rate_limit_response.hpp"
#include "gateway/http/grpc/grpc.hpp"
#include "gateway/intake/descriptor_charges.hpp"
#include "gateway/limits/checks/check_pool.hpp"
#include "gateway/limits/request_record.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::limits {

// Ownership: it views into its descriptor_admitter, until the next request.
struct descriptor_answer {
    http::grpc_status status = http::grpc_status::ok;
    // Reason for another status than `ok`, for people.
    std::string_view detail{};
    // The encoded RateLimitResponse, if the status is `ok`.
    std::string_view message{};
};

class descriptor_admitter {
public:
    // Ownership: all arguments outlive this object. It fills in its part of the record.
    descriptor_admitter(check_pool& checks, const base::turn_clock& c, request_record& record)
        : checks_(checks), clock_(c), record_(record)
    {}

    // Returns the answer to the encoded RateLimitRequest, or nothing if `listener` hears the
    // verdict later, after which conclude() returns the answer.
    // Requires: the record has arrived, and has the view whose policy has the service. The message
    // stays as it is until there is an answer.
    std::optional<descriptor_answer> admit(
        const policy::rate_limit_service& service,
        std::string_view message,
        verdict_listener& listener
    );
    descriptor_answer conclude(const verdict& v);
    void abandon();

private:
    using named = intake::descriptor_charges::outcome;

    check_pool& checks_;
    const base::turn_clock& clock_;
    request_record& record_;
    // The borrowed check, while its verdict is awaited.
    std::unique_ptr<limit_check> check_;

    envoy::rate_limit_request request_;
    intake::descriptor_charges charges_;
    envoy::rate_limit_response response_;
    // The reports of one descriptor.
    std::vector<http::limit_report> reports_;
    // Lines of the headers, and the message, of the last answer. All of these keep their memory.
    std::string header_lines_;
    std::string encoded_;
    // Reason for a refusal, if it is not a constant text.
    std::string detail_;

    descriptor_answer encoded();
    void fill_statuses(const verdict& v);
    void show_status(std::size_t descriptor);
    void fill_headers(std::optional<base::duration> retry_after);
};

}  // namespace gateway::limits
