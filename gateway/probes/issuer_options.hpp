// `issuer_options` says where the keys of an issuer of tokens are, and how they are fetched. Plain
// values.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <string>

namespace gateway::probes {

struct issuer_options {
    // URL of the set of keys as it is configured; empty: keys are not fetched.
    std::string url;
    // Parts of that URL. The target has the path and the query.
    std::string host;
    std::string port;
    std::string target;
    // Prepared, if there is a URL.
    net::tls_client_options tls;
    // Time for one fetch.
    base::duration timeout = std::chrono::seconds{5};
    // Time after which keys are fetched again, unless the issuer names another.
    base::duration refresh = std::chrono::minutes{10};
    // State of the process while there are no keys: closed refuses requests only, wait says that it
    // is not ready, too.
    enum class no_keys { closed, wait } on_no_keys = no_keys::closed;

    bool operator==(const issuer_options&) const = default;
};

}  // namespace gateway::probes
