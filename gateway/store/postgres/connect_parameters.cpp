#include "gateway/store/postgres/connect_parameters.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <netinet/in.h>

namespace gateway::store::postgres {

namespace {

// Time that a server may work on a statement, beyond the longest wait for a lock.
constexpr base::duration statement_work = std::chrono::milliseconds{250};

// Adds settings of the server's session: one plan for all calls, by the primary key, even if the
// table's statistics are outdated; how transactions see each other, whatever the database's
// default; when a statement is given up; and how long a lock is waited for.
void add_settings(
    connect_parameters& parameters, const postgres_options& options, base::duration limit
)
{
    const base::duration statement_limit = std::max(limit, options.timeout + statement_work);
    const std::string settings =
        "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off "
        "-c enable_mergejoin=off -c default_transaction_isolation=read\\ committed "
        "-c statement_timeout=" +
        std::to_string(statement_limit / std::chrono::milliseconds{1}) +
        " -c lock_timeout=" + std::to_string(lock_wait(options));
    for (auto& [name, value] : parameters) {
        if (name == "options") {
            value += ' ' + settings;
            return;
        }
    }
    parameters.emplace_back("options", settings);
}

std::string text_of(const net::resolved_name::endpoint& at)
{
    const auto* const any = static_cast<const sockaddr*>(static_cast<const void*>(at.data()));
    if (any->sa_family == AF_INET) {
        const auto* const v4 = static_cast<const sockaddr_in*>(static_cast<const void*>(any));
        return boost::asio::ip::address_v4{ntohl(v4->sin_addr.s_addr)}.to_string();
    }
    const auto* const v6 = static_cast<const sockaddr_in6*>(static_cast<const void*>(any));
    boost::asio::ip::address_v6::bytes_type bytes;
    std::copy_n(std::begin(v6->sin6_addr.s6_addr), bytes.size(), bytes.begin());
    return boost::asio::ip::address_v6{bytes, v6->sin6_scope_id}.to_string();
}

}  // namespace

connect_parameters parameters_to(
    const postgres_options& options,
    const net::server_address& server,
    const net::resolved_name::endpoint& at,
    std::optional<base::duration> limit
)
{
    connect_parameters all{
        {"target_session_attrs", "read-write"},
        {"gssencmode", "disable"},
        {"fallback_application_name", "gateway"}};
    all.insert(all.end(), options.parameters.begin(), options.parameters.end());
    if (server.socket_path.empty()) {
        all.emplace_back("host", server.host);
        all.emplace_back("hostaddr", text_of(at));
    } else {
        all.emplace_back("host", server.socket_path);
    }
    all.emplace_back("port", server.port);
    if (!options.password.empty()) {
        all.emplace_back("password", options.password);
    }
    if (limit) {
        add_settings(all, options, *limit);
    }
    return all;
}

std::int64_t lock_wait(const postgres_options& options)
{
    return std::max<std::int64_t>(options.timeout / std::chrono::milliseconds{1}, 1);
}

}  // namespace gateway::store::postgres
