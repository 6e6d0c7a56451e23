// Parses the command line and runs the command. An exception that nothing else catches ends the
// process here, with one line and status 1.
#include "gateway/app.hpp"
#include "gateway/commands/cli.hpp"
#include "gateway/commands/explain_command.hpp"
#include "gateway/commands/health_command.hpp"
#include "gateway/commands/migrate_command.hpp"
#include "gateway/commands/replay_command.hpp"
#include "gateway/commands/top_command.hpp"
#include "gateway/process/signals.hpp"

#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace {

// Opens /dev/null on each of the descriptors 0, 1 and 2 that is closed. Otherwise a socket would
// get its number, and log lines would go to its peer.
// Requires: nothing else was opened before.
void open_standard_descriptors()
{
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const bool is_open = ::fcntl(fd, F_GETFD) >= 0;
        // A new descriptor has the lowest number that is free.
        if (!is_open && ::open("/dev/null", O_RDWR) != fd) {
            throw std::system_error(
                errno,
                std::generic_category(),
                "descriptor " + std::to_string(fd) + " is closed, and /dev/null cannot be opened"
            );
        }
    }
}

int obey(const gateway::cli::request& request, gateway::own_start start)
{
    using gateway::cli::command;
    if (request.what == command::check) {
        return gateway::cli::check(request.config_path, std::cout, std::cerr);
    }
    if (request.what == command::print) {
        return gateway::cli::print(request.config_path, std::cout, std::cerr);
    }
    if (request.what == command::schema) {
        return gateway::cli::schema(std::cout);
    }
    if (request.what == command::run) {
        gateway::signals::prepare();
    }
    if (request.what == command::top && request.config_path.empty()) {
        const gateway::client::admin_options usual;
        return gateway::show_top(
            {.admin = request.admin.value_or(usual.address), .once = request.once}, std::cerr
        );
    }
    if (request.what == command::health && request.config_path.empty()) {
        const gateway::client::admin_options usual;
        return gateway::ask_health(request.admin.value_or(usual.address), request.ready, std::cerr);
    }
    const auto settings = gateway::cli::load(request.config_path, std::cerr);
    if (settings && request.what == command::explain) {
        return gateway::explain_request(*settings, request, std::cout, std::cerr);
    }
    if (settings && request.what == command::replay) {
        return gateway::replay_logs(*settings, request, std::cout, std::cerr);
    }
    if (settings && request.what == command::top) {
        const gateway::client::options& server = settings->server;
        return gateway::show_top(
            {.admin = request.admin.value_or(server.admin.address),
             .token = server.admin_token.text,
             .once = request.once},
            std::cerr
        );
    }
    if (settings && request.what == command::health) {
        return gateway::ask_health(
            request.admin.value_or(settings->server.admin.address), request.ready, std::cerr
        );
    }
    if (settings && request.what == command::migrate) {
        return request.prints_sql ? gateway::print_migration(*settings, std::cout, std::cerr)
                                  : gateway::migrate(*settings, std::cout, std::cerr);
    }
    return settings ? gateway::run(*settings, request.config_path, std::move(start))
                    : gateway::cli::wrong_usage;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        open_standard_descriptors();
        const auto parsed = gateway::cli::parse(argc, argv);
        if (const auto* output = std::get_if<gateway::cli::output>(&parsed)) {
            (output->status == gateway::cli::done ? std::cout : std::cerr) << output->text;
            return output->status;
        }
        return obey(std::get<gateway::cli::request>(parsed), gateway::own_start_of(argc, argv));
    } catch (const std::exception& e) {
        std::cerr << "gateway: " << e.what() << '\n';
        return gateway::cli::failed_while_running;
    }
}
