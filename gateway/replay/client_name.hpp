// `client_name` says who the client of a request is under one limit: the values of those parts of
// its key that tell clients apart, or the address if it has none.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/replay/judgement.hpp"
#include "gateway/replay/logs/logged_request.hpp"

#include <string>
#include <vector>

namespace gateway::replay {

class client_name {
public:
    client_name(const policy::limit_rule& rule, const wanted_parts& wanted);

    // Returns a hash of the text.
    base::hash128 hash(const logged_request& r, const judgement& j) const;

    // Returns the text, such as "192.0.2.1" or "alice, 192.0.2.1".
    std::string text(const logged_request& r, const judgement& j) const;

private:
    bool has_address_ = false;
    // Indices of wanted parts.
    std::vector<std::size_t> parts_;
};

// Returns a hash of an address with this process's secret.
base::hash128 address_hash(const base::ip_address& address);

}  // namespace gateway::replay
