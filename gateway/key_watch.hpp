// `key_watch` fetches the keys of the issuer of tokens, and hands them over when they have changed.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/identity/key_fetch_state.hpp"
#include "gateway/limits/key_fetches.hpp"
#include "gateway/net/alarm.hpp"
#include "gateway/probes/remote_server.hpp"
#include "gateway/telemetry/figures.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway {

class key_watch {
public:
    // Most bytes of the head of the issuer's response.
    static constexpr std::uint32_t max_header_bytes = 16 * 1024;

    // `fetched` receives keys that differ from those before. `ended` is called after each fetch,
    // and whenever requests that wait for one have nothing to wait for.
    struct listener {
        std::function<void(std::vector<identity::token_key> keys)> fetched;
        std::function<void()> ended;
    };

    // Ownership: `workers` outlives this object.
    key_watch(net::executor executor, limits::key_fetches& workers, listener to);
    key_watch(const key_watch&) = delete;
    key_watch& operator=(const key_watch&) = delete;

    // Fetches the keys of this configuration now, and keeps them fresh from now on.
    void watch(const config::settings& in_force);

    // Runs `control`, whose executor this object has, until the first fetch has ended, for as long
    // as keys are needed.
    //
    // Errors: std::runtime_error if there are no keys then, and they are needed still.
    void await_first(boost::asio::io_context& control, const std::function<bool()>& are_needed);

    // Returns what came of all fetches; nothing if keys are not fetched.
    std::optional<telemetry::key_fetch_figures> figures() const;

private:
    // `issuer` is where keys come from. A fetch under way keeps the one that it asks.
    struct issuer {
        probes::issuer_options options;
        probes::remote_server server;

        issuer(const net::executor& ex, probes::issuer_options o)
            : options(std::move(o)), server(ex, options.host, options.port, options.tls)
        {}
    };

    net::executor executor_;
    limits::key_fetches& workers_;
    listener listener_;
    net::alarm next_;
    // Null if keys are not fetched.
    std::shared_ptr<issuer> from_;
    identity::key_fetch_state state_;
    // Digest of the set of keys in force; nothing before the first.
    std::optional<base::sha256_digest> in_force_;
    std::size_t keys_ = 0;
    // Reason why the last fetch failed; empty: it did not.
    std::string complaint_;
    std::uint64_t succeeded_ = 0;
    std::uint64_t failed_ = 0;

    bool lacks_keys() const { return from_ != nullptr && !in_force_; }

    void asked();
    void begin();
    net::task<> fetch(std::shared_ptr<issuer> from);
    void fetched(const probes::remote_server::answer& a);
    std::string adopt(const std::string& text);
    void note(const std::string& complaint);
    void schedule();
};

}  // namespace gateway
