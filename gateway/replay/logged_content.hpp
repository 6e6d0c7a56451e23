// `logged_content` writes the members that a log tells of a request's JSON content as its client
// may have sent them, for the scanner that real contents go through. Thread: one thread only.
#pragma once

#include "gateway/content/request_values.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/replay/logs/logged_request.hpp"

#include <optional>

namespace gateway::replay {

class logged_content {
public:
    // Ownership: both arguments outlive this object.
    logged_content(const policy::policy& p, const wanted_parts& wanted);

    // Returns the content of the request. `named` is the route that the request is known to have
    // had, or null: the content gets the members by which that matches.
    // Ownership: valid until the next call.
    content::request_content of(const logged_request& r, const policy::route* named);

private:
    const policy::policy& policy_;
    const wanted_parts& wanted_;
    part_set members_;
    std::optional<content::request_values> values_;
};

}  // namespace gateway::replay
