#include "config/urls/address.hpp"
#include "gateway/commands/admin_client.hpp"
#include "gateway/commands/commands.hpp"

namespace gateway {

int ask_health(const net::listen_address& admin, bool ready, std::ostream& err)
{
    constexpr base::duration longest_wait = std::chrono::seconds{2};
    const std::string path = ready ? "/readyz" : "/healthz";
    const admin_reply reply =
        ask_admin(admin, {boost::beast::http::verb::get, path, 11}, longest_wait);
    if (reply.failed.empty() && reply.status == 200) {
        return cli::done;
    }
    err << "the admin API on " << config::to_text(admin) << ": "
        << (reply.failed.empty() ? path + " answered " + std::to_string(reply.status) : reply.failed
           )
        << '\n';
    return cli::failed_while_running;
}

}  // namespace gateway
