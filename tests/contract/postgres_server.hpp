// A real PostgreSQL server for one test: on a free port, in a directory of its own, gone with the
// object.
#pragma once

#include "tests/contract/redis_server.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <pwd.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gateway::store::testing {

class postgres_server {
public:
    // `more`: settings, as "name=value".
    explicit postgres_server(std::vector<std::string> more = {})
        : port_(free_port()), more_(std::move(more))
    {
        std::string pattern = std::filesystem::temp_directory_path() / "gateway-postgres-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
        if (::getuid() == 0) {  // as which PostgreSQL refuses to run
            const passwd* const user = ::getpwnam("postgres");
            EXPECT_NE(user, nullptr);
            EXPECT_EQ(::chown(directory_.c_str(), user->pw_uid, user->pw_gid), 0);
        }
        run(
            {binary("initdb"),
             "-D",
             data(),
             "-U",
             "gateway",
             "-A",
             "trust",
             "-N",
             "-E",
             "UTF8",
             "--locale=C"}
        );
        start();
    }

    ~postgres_server()
    {
        stop();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }

    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;

    void start()
    {
        std::vector<std::string> words{
            binary("postgres"),
            "-D",
            data(),
            "-p",
            std::to_string(port_),
            "-k",
            directory_,
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "fsync=off",
            "-c",
            "autovacuum=off",
            "-c",
            "shared_buffers=16MB",
            "-c",
            "log_destination=stderr"};
        for (const std::string& setting : more_) {
            words.insert(words.end(), {"-c", setting});
        }
        pid_ = spawn(words);
        for (int tries = 0; tries < 1000 && command("SELECT 1") != "1"; ++tries) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }

    // As after a crash.
    void stop()
    {
        if (pid_ > 0) {
            ::kill(pid_, SIGQUIT);
            ::waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }

    int port() const { return port_; }

    std::string socket_path() const { return directory_; }

    // What it has logged so far.
    std::string log() const
    {
        std::ifstream file{log_path()};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    using connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

    connection connect() const
    {
        const std::string where = "host=" + directory_ + " port=" + std::to_string(port_) +
                                  " user=gateway dbname=postgres";
        return {PQconnectdb(where.c_str()), &PQfinish};
    }

    // The first column of what comes, joined by spaces; what went wrong begins with "error: ".
    std::string command(const std::string& sql) const { return command(*connect(), sql); }

    static std::string command(PGconn& on, const std::string& sql)
    {
        const std::unique_ptr<PGresult, decltype(&PQclear)> r{PQexec(&on, sql.c_str()), &PQclear};
        if (PQresultStatus(r.get()) != PGRES_TUPLES_OK &&
            PQresultStatus(r.get()) != PGRES_COMMAND_OK) {
            return std::string{"error: "} + PQerrorMessage(&on);
        }
        std::string all;
        for (int row = 0; row < PQntuples(r.get()); ++row) {
            all += (row == 0 ? "" : " ") + std::string{PQgetvalue(r.get(), row, 0)};
        }
        return all;
    }

private:
    int port_;
    std::vector<std::string> more_;
    std::string directory_;
    pid_t pid_ = 0;

    std::string data() const { return directory_ + "/data"; }

    std::string log_path() const { return directory_ + "/log"; }

    // Returns the path of a program of the one PostgreSQL version that is installed.
    static std::string binary(const std::string& name)
    {
        for (const auto& version : std::filesystem::directory_iterator{"/usr/lib/postgresql"}) {
            return version.path() / "bin" / name;
        }
        return name;
    }

    pid_t spawn(std::vector<std::string> words) const
    {
        if (::getuid() == 0) {
            words.insert(
                words.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"}
            );
        }
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        const std::string log = log_path();
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // a test that is killed leaves nothing behind
            const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
            ::dup2(to, 1);
            ::dup2(to, 2);
            ::execvp(arguments[0], arguments.data());
            ::_exit(127);
        }
        return pid;
    }

    void run(const std::vector<std::string>& words) const
    {
        int status = 1;
        ::waitpid(spawn(words), &status, 0);
        EXPECT_EQ(status, 0) << words[0];
    }
};

}  // namespace gateway::store::testing
