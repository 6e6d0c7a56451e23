// `collector` is the server that takes the spans of traced requests, by OTLP over HTTP. Each batch
// goes over a connection of its own.
// Thread: that of its executor.
#pragma once

#include "gateway/probes/collector_options.hpp"
#include "gateway/probes/remote_server.hpp"

#include <string>

namespace gateway::probes {

class collector {
public:
    // Most bytes of its response.
    static constexpr std::uint32_t max_header_bytes = 8 * 1024;
    static constexpr std::uint64_t max_body_bytes = std::uint64_t{64} * 1024;

    // Looks its name up from now on. `user_agent` is the gateway's name for itself.
    collector(const net::executor& ex, collector_options options, std::string user_agent);

    const collector_options& options() const { return options_; }

    // False while its name is looked up for the first time.
    bool is_known() const { return server_.is_known(); }

    // `delivery` is what became of a batch.
    struct delivery {
        // Reason why the collector has not taken it; empty if it has.
        std::string complaint{};
        // True if it may take the same batch later.
        bool may_repeat = false;
        // Value of Retry-After, or empty.
        std::string retry_after{};
        // Body of the response, if it has taken the batch.
        std::string body{};
    };

    // Sends a batch, encoded as JSON, within `timeout`.
    // Ownership: this object outlives the task.
    net::task<delivery> deliver(std::string batch, base::duration timeout);

private:
    collector_options options_;
    std::string user_agent_;
    remote_server server_;
};

}  // namespace gateway::probes
