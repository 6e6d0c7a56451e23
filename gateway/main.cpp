// Parses the command line and runs the command. An exception that nothing else catches ends the
// process here, with one line and status 1.
#include "gateway/app.hpp"
#include "gateway/commands/commands.hpp"
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

// Runs a command that asks the admin API of a running gateway with these options.
int ask_gateway(const gateway::cli::request& request, const gateway::client::options& server)
{
    const gateway::net::listen_address admin = request.admin.value_or(server.admin.address);
    if (request.what == gateway::cli::command::health) {
        return gateway::ask_health(admin, request.ready, std::cerr);
    }
    return gateway::show_top(
        {.admin = admin, .token = server.admin_token.text, .once = request.once}, std::cerr
    );
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
    const bool asks = request.what == command::top || request.what == command::health;
    if (asks && request.config_path.empty()) {
        return ask_gateway(request, {});
    }
    const auto settings = gateway::cli::load(request.config_path, std::cerr);
    if (settings && request.what == command::explain) {
        return gateway::explain_request(*settings, request, std::cout, std::cerr);
    }
    if (settings && request.what == command::replay) {
        return gateway::replay_logs(*settings, request, std::cout, std::cerr);
    }
    if (settings && asks) {
        return ask_gateway(request, settings->server);
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
