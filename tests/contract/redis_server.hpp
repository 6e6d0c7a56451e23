// A real redis-server for one test: on a free port, in a directory of its own, gone with the
// object.
#pragma once

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gateway::store::testing {

inline int free_port()
{
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(fd);
    return ntohs(address.sin_port);
}

class redis_server {
public:
    // `more`: of its command line; `environment`: "NAME=value".
    explicit redis_server(
        std::vector<std::string> more = {},
        std::vector<std::string> environment = {},
        int port = free_port()
    )
        : port_(port), more_(std::move(more)), environment_(std::move(environment))
    {
        std::string pattern = std::filesystem::temp_directory_path() / "gateway-redis-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
        start();
    }

    ~redis_server()
    {
        stop();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }

    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    void start()
    {
        std::vector<std::string> words{
            "redis-server",
            "--port",
            std::to_string(port_),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            directory_,
            "--unixsocket",
            socket_path(),
            "--logfile",
            directory_ + "/log"};
        words.insert(words.end(), more_.begin(), more_.end());
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nothing behind
            for (std::string& variable : environment_) {
                ::putenv(variable.data());
            }
            ::execvp("redis-server", arguments.data());
            ::_exit(127);
        }
        for (int tries = 0; tries < 500 && !reachable(); ++tries) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }

    void stop()
    {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }

    void freeze() { ::kill(pid_, SIGSTOP); }

    void thaw() { ::kill(pid_, SIGCONT); }

    int port() const { return port_; }

    std::string socket_path() const { return directory_ + "/socket"; }

    // One command on a connection of its own; arrays come joined by spaces.
    std::string command(const std::vector<std::string>& words) const
    {
        const connection c{redisConnectWithTimeout("127.0.0.1", port_, {5, 0})};
        if (c == nullptr || c->err != 0) {
            return "no connection";
        }
        send(c.get(), words);
        void* got = nullptr;
        if (redisGetReply(c.get(), &got) != REDIS_OK) {
            return "no reply";
        }
        const std::unique_ptr<void, decltype(&freeReplyObject)> freed{got, freeReplyObject};
        return text_of(*static_cast<redisReply*>(got));
    }

    // A connection that sent a command and waits for no answer, for commands that keep the server
    // busy.
    struct closer {
        void operator()(redisContext* c) const { redisFree(c); }
    };

    using connection = std::unique_ptr<redisContext, closer>;

    connection begin(const std::vector<std::string>& words) const
    {
        connection c{redisConnectWithTimeout("127.0.0.1", port_, {5, 0})};
        send(c.get(), words);
        int done = 0;
        while (done == 0 && redisBufferWrite(c.get(), &done) == REDIS_OK) {
        }
        return c;
    }

private:
    int port_;
    std::vector<std::string> more_;
    std::vector<std::string> environment_;
    std::string directory_;
    pid_t pid_ = 0;

    bool reachable() const { return command({"PING"}) != "no connection"; }

    static void send(redisContext* c, const std::vector<std::string>& words)
    {
        std::vector<const char*> texts;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            texts.push_back(word.data());
            sizes.push_back(word.size());
        }
        redisAppendCommandArgv(c, static_cast<int>(words.size()), texts.data(), sizes.data());
    }

    static std::string text_of(const redisReply& r)
    {
        if (r.type == REDIS_REPLY_INTEGER) {
            return std::to_string(r.integer);
        }
        if (r.type != REDIS_REPLY_ARRAY) {
            return r.str == nullptr ? "" : std::string{r.str, static_cast<std::size_t>(r.len)};
        }
        std::string all;
        for (std::size_t i = 0; i < r.elements; ++i) {
            all += (i == 0 ? "" : " ") + text_of(*r.element[i]);
        }
        return all;
    }
};

}  // namespace gateway::store::testing
