#include "gateway/commands/cli.hpp"

#include "config/load.hpp"
#include "config/print.hpp"
#include "config/schema.hpp"
#include "config/text/problem.hpp"
#include "config/urls/address.hpp"
#include "gateway/base/suggest.hpp"
#include "gateway/base/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

namespace gateway::cli {
namespace {

struct command_text {
    const char* name;
    command what;
    const char* description;
};

constexpr std::array<command_text, 9> commands{{
    {"run", command::run, "Serve until SIGTERM, SIGINT or SIGQUIT"},
    {"check",
     command::check,
     "Validate the configuration and say FILE: ok, or print every problem"},
    {"print", command::print, "Print the effective settings as YAML, secrets as ***"},
    {"explain",
     command::explain,
     "Say what would become of a request, and why; nothing is taken or counted"},
    {"top", command::top, "Show in a terminal what the page of the admin API shows; q ends it"},
    {"health",
     command::health,
     "Ask a running gateway whether it serves, for the health check of a container"},
    {"migrate",
     command::migrate,
     "Install in shared stores what they need before a gateway can use them"},
    {"replay",
     command::replay,
     "Decide the requests of access logs again under this configuration, with no network"},
    {"schema", command::schema, "Print the JSON Schema of the configuration, for editors"},
}};

// Returns the complaint about an unknown command. CLI11 would say only that a command is missing.
std::optional<output> complaint_about_command(std::string_view word)
{
    std::array<std::string_view, commands.size()> names;
    std::transform(commands.begin(), commands.end(), names.begin(), [](const command_text& text) {
        return text.name;
    });
    if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) {
        return std::nullopt;
    }
    return output{
        wrong_usage,
        "unknown command " + config::quote(word) + base::suggestion(word, names) +
            "\nRun with --help for more information.\n"};
}

// Adds a header that is written as "Name: value".
void add_header(intake::hypothetical_request& hypothetical, const std::string& line)
{
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
        throw CLI::ValidationError("-H", "expected \"Name: value\", got " + config::quote(line));
    }
    const auto value = base::trimmed(std::string_view{line}.substr(colon + 1));
    hypothetical.headers.emplace_back(line.substr(0, colon), value);
}

// Adds the address of a running gateway's admin API.
void add_admin_address(CLI::App& sub, request& asked, const std::string& description)
{
    sub.add_option_function<std::string>(
           "--admin",
           [&asked](const std::string& text) {
               auto [address, complaint] = config::parse_listen_address(text);
               if (!address) {
                   throw CLI::ValidationError("--admin", complaint);
               }
               asked.admin = std::move(address);
           },
           description
    )
        ->type_name("ADDRESS");
}

void add_options_of_explain(CLI::App& sub, request& asked)
{
    sub.add_option(
           "METHOD", asked.hypothetical.method, "Method of the request: GET, POST or another"
    )
        ->required();
    sub.add_option(
           "URL",
           asked.hypothetical.url,
           "URL of the request: /path?query, or http://host/path?query"
    )
        ->required();
    sub.add_option_function<std::vector<std::string>>(
           "-H",
           [&asked](const std::vector<std::string>& lines) {
               for (const std::string& line : lines) {
                   add_header(asked.hypothetical, line);
               }
           },
           "A header of the request; any number of them"
    )
        ->type_name("'NAME: VALUE'")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    sub.add_option(
           "--data", asked.hypothetical.content, "Content of the request, which is JSON by default"
    )
        ->type_name("TEXT");
    sub.add_option("--peer", asked.hypothetical.peer, "Address that its connection comes from")
        ->type_name("IP")
        ->capture_default_str();
    add_admin_address(
        sub,
        asked,
        "The admin API of the running gateway, for the counts; the token is the configuration's"
    );
}

// Reads a share such as "0.1%" as a number from 0 to 1.
double read_share(const std::string& option, const std::string& text)
{
    double percent = 0;
    const char* const end = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    const bool plain = error == std::errc{} && stop == end && text.ends_with('%');
    if (!plain || !(percent >= 0 && percent <= 100)) {
        throw CLI::ValidationError(
            option, "expected a percentage such as 0.1%, got " + config::quote(text)
        );
    }
    return percent / 100;
}

void add_share(
    CLI::App& sub, const std::string& option, std::optional<double>& share, const char* description
)
{
    sub.add_option_function<std::string>(
           option,
           [option, &share](const std::string& text) { share = read_share(option, text); },
           description
    )
        ->type_name("PERCENT");
}

void add_options_of_replay(CLI::App& sub, replay_request& asked)
{
    sub.add_option(
           "LOG",
           asked.logs,
           "Access logs, plain, .gz or .zst; - is the standard input. Formats: the gateway's own "
           "(json, text), combined of nginx and Apache, HAProxy's HTTP log, JSON of Caddy and "
           "Traefik"
    )
        ->type_name("FILE")
        ->required();
    sub.add_option(
           "--against",
           asked.against_path,
           "Another configuration, such as the one in use; tells whose requests would fare "
           "otherwise"
    )
        ->type_name("FILE");
    add_share(
        sub,
        "--suggest",
        asked.accepted_requests,
        "For each limit, suggest the smallest rate and burst that reject at most this share of its "
        "requests"
    );
    add_share(
        sub,
        "--suggest-clients",
        asked.accepted_clients,
        "Like --suggest, with at most this share of its clients"
    );
    sub.add_option(
           "--fields",
           asked.fields,
           "Members of other JSON logs: client=ip,time=ts,path=request.uri, and method, host, "
           "status, duration, cost, or key parts such as header:x-api-key"
    )
        ->type_name("NAME=MEMBER,...");
    sub.add_option("--report", asked.report_path, "Write a report in HTML to this file")
        ->type_name("FILE");
    sub.add_option_function<std::string>(
           "--format",
           [&asked](const std::string& format) { asked.as_json = format == "json"; },
           "Print text for people, or json for programs"
    )
        ->type_name("FORMAT")
        ->default_str("text")
        ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace

std::variant<request, output> parse(int argc, const char* const* argv)
{
    if (argc > 1) {
        if (auto complaint = complaint_about_command(argv[1])) {
            return *std::move(complaint);
        }
    }
    CLI::App app{"An HTTP reverse proxy whose job is rate limiting", "gateway"};
    app.set_version_flag("--version", "gateway " GATEWAY_VERSION);
    app.require_subcommand(1);
    app.footer("Exit status: 0 done, 1 failed while running, 2 wrong usage or bad configuration.");
    request asked;
    for (const command_text& text : commands) {
        CLI::App* sub = app.add_subcommand(text.name, text.description);
        sub->callback([&asked, what = text.what] { asked.what = what; });
        if (text.what == command::schema) {
            continue;
        }
        if (text.what == command::explain) {
            add_options_of_explain(*sub, asked);
        }
        if (text.what == command::replay) {
            add_options_of_replay(*sub, asked.replay);
        }
        if (text.what == command::migrate) {
            sub->add_flag(
                "--print-sql",
                asked.prints_sql,
                "Print the statements for PostgreSQL instead, for somebody else to run"
            );
        }
        const bool asks = text.what == command::top || text.what == command::health;
        if (asks) {
            add_admin_address(
                *sub,
                asked,
                "The admin API of the running gateway; by default that of FILE, or 127.0.0.1:9901"
            );
        }
        if (text.what == command::top) {
            sub->add_flag("--once", asked.once, "Print the figures once, and end");
        }
        if (text.what == command::health) {
            sub->add_flag("--ready", asked.ready, "Ask whether it takes new connections, too");
        }
        const bool reads_only = text.what == command::check || text.what == command::print;
        sub->add_option(
               reads_only ? "--config,FILE" : "--config",
               asked.config_path,
               "The configuration, a gateway.yaml(5); - is the standard input"
        )
            ->type_name("FILE")
            ->required(!asks)
            ->take_last();
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        std::ostringstream out;
        std::ostringstream err;
        const int status = app.exit(e, out, err) == 0 ? done : wrong_usage;
        return output{status, status == done ? out.str() : err.str()};
    }
    return asked;
}

std::optional<config::settings> load(const std::string& config_path, std::ostream& err)
{
    try {
        config::settings settings = config::load_file(config_path);
        for (const std::string& warning : settings.warnings) {
            err << "warning: " << warning << '\n';
        }
        return settings;
    } catch (const config::config_error& e) {
        err << e.what() << '\n';
        return std::nullopt;
    }
}

int check(const std::string& config_path, std::ostream& out, std::ostream& err)
{
    if (!load(config_path, err)) {
        return wrong_usage;
    }
    out << config::shown_name(config_path) << ": ok\n";
    return done;
}

int print(const std::string& config_path, std::ostream& out, std::ostream& err)
{
    const auto settings = load(config_path, err);
    if (!settings) {
        return wrong_usage;
    }
    out << config::print(*settings);
    return done;
}

int schema(std::ostream& out)
{
    out << config::schema();
    return done;
}

}  // namespace gateway::cli
