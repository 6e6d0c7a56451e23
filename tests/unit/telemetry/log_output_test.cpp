#include "gateway/telemetry/log_output.hpp"

#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/syslog_output.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace gateway::telemetry {
namespace log_output_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const log_options as_json{log_level::info, true, log_format::json};

log_target file_at(const std::string& path)
{
    return {.is = log_target::kind::file, .address = path, .text = path};
}

std::string contents(const std::string& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A syslog server on a Unix socket.
class syslog_server {
public:
    explicit syslog_server(const std::string& path)
        : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path.copy(static_cast<char*>(at.sun_path), sizeof at.sun_path - 1);
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    }

    ~syslog_server() { ::close(fd_); }

    std::string next() const
    {
        std::array<char, 4096> bytes{};
        const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
        return {bytes.data(), static_cast<std::size_t>(n)};
    }

private:
    const int fd_;
};

TEST(log_output, appends_to_a_file_that_the_group_may_read)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "a.log").string();
    const mode_t before = ::umask(0);
    for (const auto* line : {"one\n", "two\n"}) {
        access_log_writer writer(required_output(file_at(path)), as_json);
        writer.submit(line);
    }
    ::umask(before);
    EXPECT_EQ(contents(path), "one\ntwo\n");

    struct stat file {};

    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0640);
}

TEST(log_output, says_why_a_file_cannot_be_opened)
{
    const opened_output opened = open_output(file_at("/nowhere/a.log"));
    EXPECT_EQ(opened.output, nullptr);
    EXPECT_EQ(opened.complaint, "/nowhere/a.log: No such file or directory");
    EXPECT_THROW(required_output(file_at("/nowhere/a.log")), std::runtime_error);
}

TEST(log_output, does_not_wait_for_the_reader_of_a_named_pipe)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "pipe").string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(open_output(file_at(path)).complaint, HasSubstr("No such device"));
}

TEST(log_output, goes_on_in_a_new_file_when_the_old_one_was_moved_away)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "a.log").string();
    {
        access_log_writer writer(required_output(file_at(path)), as_json);
        writer.submit("one\n");
        while (contents(path).empty()) {
            std::this_thread::yield();
        }
        std::filesystem::rename(path, path + ".1");
        writer.write_to(file_at(path));
        writer.submit("two\n");
        writer.write_to(file_at("/nowhere/a.log"));
        writer.submit("three\n");
    }
    EXPECT_EQ(contents(path + ".1"), "one\n");
    EXPECT_EQ(contents(path), "two\nthree\n") << "the old one stays if the new one is bad";
}

TEST(log_output, leaves_a_reader_that_has_stalled)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "a.log").string();
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    {
        access_log_writer writer(output_to(pipe[1]), as_json);
        const std::string line = std::string(99'999, 'x') + "\n";
        writer.submit(line + line + "whole\n");  // more than a pipe takes
        writer.write_to(file_at(path));
        writer.submit("last\n");
    }
    ::close(pipe[0]);
    ::close(pipe[1]);
    EXPECT_THAT(contents(path), EndsWith("whole\nlast\n"));
}

TEST(syslog_output, sends_each_line_as_a_message)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "log").string();
    const log_target target{
        .is = log_target::kind::unix_syslog, .address = path, .text = "syslog:" + path};
    const syslog_server server(path);
    access_log_writer writer(required_output(target), as_json);
    writer.submit("{\"a\":1}\n{\"b\":2}\n");
    EXPECT_THAT(
        server.next(),
        MatchesRegex("<30>[A-Z][a-z][a-z] [ 0-9][0-9] [0-9:]+ gateway\\[[0-9]+\\]: \\{\"a\":1\\}")
    );
    EXPECT_THAT(server.next(), EndsWith(": {\"b\":2}"));
    EXPECT_EQ(writer.dropped_lines(), 0u);
}

TEST(syslog_output, finds_a_server_that_was_started_anew_and_counts_lines_in_between)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "log").string();
    const log_target target{.is = log_target::kind::unix_syslog, .address = path};
    access_log_writer writer(required_output(target), as_json);
    for (const auto* line : {"one\n", "two\n"}) {
        const auto before = writer.dropped_lines();
        writer.submit("lost\n");
        while (writer.dropped_lines() == before) {
            std::this_thread::yield();
        }
        const syslog_server server(path);
        writer.submit(line);
        EXPECT_THAT(server.next() + "\n", EndsWith(line));
        std::filesystem::remove(path);
    }
    EXPECT_EQ(writer.dropped_lines(), 2u);
}

TEST(syslog_output, cuts_a_line_that_no_datagram_holds)
{
    const unit::own_folder folder;
    const std::string path = (folder.path() / "log").string();
    const log_target target{.is = log_target::kind::unix_syslog, .address = path};
    const syslog_server server(path);
    access_log_writer writer(required_output(target), as_json);
    writer.submit(std::string(300'000, 'x') + "\nafter\n");
    EXPECT_THAT(server.next(), EndsWith("xxx"));
    EXPECT_THAT(server.next(), EndsWith(": after"));
    EXPECT_EQ(writer.dropped_lines(), 0u);
}

TEST(syslog_output, has_the_form_of_rfc_3164)
{
    std::string message = "before";
    format_syslog(message, std::chrono::seconds{0}, "gateway[7]:", "line");
    EXPECT_THAT(message, MatchesRegex("<30>(Jan  1|Dec 31) [0-9:]+ gateway\\[7\\]: line"));
}

}  // namespace log_output_test
}  // namespace gateway::telemetry
