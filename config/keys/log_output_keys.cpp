// `describe_log_output` describes where the lines of requests go.
#include "config/keys/issuer_keys.hpp"
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/address.hpp"

namespace gateway::config {
namespace {

using target_kind = telemetry::log_target::kind;

constexpr std::string_view standard_socket = "/dev/log";

// Puts the address of a syslog server in place, or returns what is wrong with it.
std::string take_syslog(const std::string& address, telemetry::log_target& target)
{
    if (address.starts_with('/')) {
        if (const auto complaint = complaint_about_socket_path(address)) {
            return *complaint;
        }
        target.is = target_kind::unix_syslog;
        target.address = address;
        return {};
    }
    const auto parsed = parse_listen_address(address);
    if (!parsed.value || !parsed.value->socket_path.empty() || parsed.value->port == 0) {
        return "expected the path of a Unix socket or IP:PORT after \"syslog:\", got " +
               quote(address);
    }
    target.is = target_kind::udp_syslog;
    target.address = parsed.value->host;
    target.port = parsed.value->port;
    return {};
}

std::string take_output(const std::string& text, const draft& d, telemetry::log_target& target)
{
    constexpr std::string_view syslog_at = "syslog:";
    target = {.text = text};
    if (text == "stdout") {
        return {};
    }
    if (text == "syslog" || text.starts_with(syslog_at)) {
        return take_syslog(
            std::string{text == "syslog" ? standard_socket : text.substr(syslog_at.size())}, target
        );
    }
    if (is_url(text) || text.find('/') == std::string::npos || text.ends_with('/')) {
        return "expected stdout, syslog, syslog:ADDRESS or the path of a file (./NAME for one "
               "beside the configuration), got " +
               quote(text);
    }
    target.is = target_kind::file;
    target.address = beside(d, text);
    return {};
}

}  // namespace

void describe_log_output(keys& log, draft& d)
{
    telemetry::log_target& target = d.result.log.output;
    log("output",
        "says where the lines of requests go: to stdout; to `syslog`, which is `/dev/log`; to "
        "`syslog:ADDRESS`, the path of another Unix socket or `IP:PORT` (UDP); or to a file, "
        "which SIGHUP opens again")
        .text(
            {.documented = {"`stdout`", "`stdout`, `syslog`, `syslog:ADDRESS`, a path with a `/`"},
             .schema = R"({"type":"string","pattern":"^(stdout|syslog(:.+)?|.*/.*[^/])$"})",
             .take = [&](const std::string& text) { return take_output(text, d, target); },
             .print = [&] { return yaml(target.text); }}
        );
}

}  // namespace gateway::config
