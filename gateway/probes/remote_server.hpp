// `remote_server` is a server that the process itself asks over HTTP: the collector of traces, or
// the issuer of tokens. Each request goes over a connection of its own. Redirects are not followed.
// Thread: that of its executor.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/resolved_name.hpp"
#include "gateway/net/task.hpp"
#include "gateway/probes/control_http.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gateway::probes {

class remote_server {
public:
    // Most bytes of a response.
    struct bounds {
        std::uint32_t head = 8 * 1024;
        std::uint64_t body = 0;
    };

    // `answer` is what came of a request.
    struct answer {
        // Reason why there is no whole response; empty if there is one.
        std::string complaint{};
        // True if the same request may succeed later.
        bool may_repeat = false;
        // The response, if at least its head came.
        std::optional<control_response> response{};
    };

    // Looks the host's name up from now on. `tls` is prepared, or nothing for a server without TLS.
    remote_server(
        const net::executor& ex,
        const std::string& host,
        const std::string& port,
        const std::optional<net::tls_client_options>& tls
    );

    ~remote_server() { name_.stop(); }

    remote_server(const remote_server&) = delete;
    remote_server& operator=(const remote_server&) = delete;

    // False while its name is looked up for the first time.
    bool is_known() const { return name_.known(); }

    // Sends a request, and returns the response if it comes within `timeout`.
    // Ownership: this object and the request outlive the task.
    net::task<answer> ask(const control_upload& request, base::duration timeout, bounds within);

private:
    net::executor executor_;
    // Ends the wait for the first answer of the resolver.
    net::timer known_;
    net::resolved_name name_;
    // Null if it is reached without TLS.
    std::shared_ptr<net::tls_client> tls_;
};

}  // namespace gateway::probes
