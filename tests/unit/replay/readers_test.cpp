// Lines as real servers write them: Debian's nginx, Apache, HAProxy and Caddy, and ours.
#include "gateway/replay/logs/format_guess.hpp"

#include <gtest/gtest.h>

namespace gateway::replay {
namespace readers_test {

using source = policy::key_part::source;

class readers : public ::testing::Test {
protected:
    void SetUp() override
    {
        policy::policy p;
        p.client.header = "X-Forwarded-For";
        policy::limit_rule rule{
            .name = "l",
            .key =
                {{.from = source::header, .name = "user-agent"},
                 {.from = source::query, .name = "q"},
                 {.from = source::jwt, .name = "sub"},
                 {.from = source::json, .name = "model"}},
            .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)};
        p.limits.push_back(rule);
        p.log_fields.push_back({"tenant", {.from = source::jwt, .name = "sub"}});
        wanted.add(p);
    }

    // Returns the request of the line, read in the format that the line is guessed to be in.
    const logged_request& read(std::string line, const std::optional<json_format>& described = {})
    {
        line_ = std::move(line);
        const std::string first = line_;
        guess_ = guess_format(std::span{&first, 1}, wanted, described);
        parts_.clear();
        request_ = {};
        if (guess_.reader != nullptr) {
            EXPECT_TRUE(guess_.reader->read(line_, request_, parts_));
        }
        return request_;
    }

    std::string format() const
    {
        return guess_.reader == nullptr ? "" : std::string{guess_.reader->name()};
    }

    std::string value_of(source from, std::string_view name) const
    {
        for (const part_text& p : parts_) {
            if (p.part == wanted.find(from, name)) {
                return std::string{p.text};
            }
        }
        return "-";
    }

    bool knows(source from, std::string_view name) const
    {
        return (request_.known & bit(*wanted.find(from, name))) != 0;
    }

    wanted_parts wanted;

private:
    std::string line_;
    guessed_format guess_;
    std::vector<part_text> parts_;
    logged_request request_;
};

constexpr std::chrono::seconds ten{1'795'860'000};

TEST_F(readers, our_json)
{
    const auto& r = read(
        R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1","peer":"10.0.0.1","method":"GET",)"
        R"("host":"h.example","target":"/a\"b","route":"main","limit":"l","outcome":"rejected",)"
        R"("request_id":"x","status":429,"request_bytes":0,"response_bytes":9,)"
        R"("duration_seconds":0.000123,"decided":1795860001122333444,"cost":3,"costs":{"l":3,"m":7},)"
        R"("fields":{"tenant":"alice"}})"
    );
    EXPECT_EQ(format(), "the gateway's JSON");
    EXPECT_EQ(r.at, ten + base::duration{1'122'333'444});
    EXPECT_EQ(r.duration, std::chrono::microseconds{123});
    EXPECT_EQ(r.client.to_string(), "192.0.2.1");
    EXPECT_EQ(r.target, "/a\"b");
    EXPECT_EQ(r.host, "h.example");
    EXPECT_EQ(r.was, verdict::rejected);
    EXPECT_EQ(r.cost, 3);
    EXPECT_EQ(r.costs, R"({"l":3,"m":7})");
    EXPECT_EQ(value_of(source::jwt, "sub"), "alice");
    EXPECT_FALSE(knows(source::query, "q"));
    EXPECT_FALSE(r.client_is_peer);
    EXPECT_FALSE(r.refused_early);
}

TEST_F(readers, our_json_of_a_request_whose_limits_waited_for_its_content)
{
    const auto duration_of = [this](const std::string& decided, const std::string& seconds) {
        return read(
                   R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1","method":"POST",)"
                   R"("host":"h","target":"/","status":200,"duration_seconds":)" +
                   seconds + R"(,"decided":17958600)" + decided + "}"
        )
            .duration;
    };
    EXPECT_EQ(duration_of("01120500000", "0.502"), std::chrono::microseconds{2500});
    EXPECT_EQ(duration_of("01123400000", "0.5"), base::duration{0});
    EXPECT_EQ(duration_of("01120500000", "0.003499"), std::chrono::microseconds{3499});
    EXPECT_EQ(duration_of("01220500000", "0.5"), std::chrono::milliseconds{500})
        << "the clock was set back";
}

TEST_F(readers, our_lines_of_calls_of_grpc)
{
    const std::string json = R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1",)"
                             R"("method":"POST","host":"","target":"/s/M","status":429)";
    EXPECT_EQ(
        read(json + R"(,"grpc_status":8})").grpc_status, http::grpc_status::resource_exhausted
    );
    EXPECT_EQ(read(json + R"(,"grpc_status":17})").grpc_status, http::grpc_status::other);
    EXPECT_FALSE(read(json + "}").grpc_status);
    const std::string text = R"(192.0.2.1 - - [28/Nov/2026:10:00:01 +0000] "POST /s/M" 200 5 )"
                             "0.001 peer=192.0.2.1";
    EXPECT_EQ(read(text + " grpc_status=16").grpc_status, http::grpc_status::unauthenticated);
    EXPECT_FALSE(read(text).grpc_status);
}

TEST_F(readers, our_json_of_a_request_that_never_had_limits)
{
    EXPECT_TRUE(
        read(R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1","peer":"192.0.2.1",)"
             R"("method":"","host":"","target":"","status":400,"error":"bad"})")
            .refused_early
    );
    const std::string said = R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1",)"
                             R"("method":"GET","host":"","target":"/n","error":"why","status":)";
    for (const char* of_the_route : {"404", "502", "504"}) {
        EXPECT_FALSE(read(said + of_the_route + "}").refused_early) << of_the_route;
    }
    EXPECT_TRUE(read(said + "413}").refused_early);
}

using own_fields_of_line = std::vector<std::pair<std::string, std::string>>;

// Returns a line of ours with these fields at its end.
std::string our_line(bool is_json, int status, const own_fields_of_line& fields)
{
    std::string json =
        R"({"time":"2026-11-28T10:00:01.123Z","client":"192.0.2.1","peer":"192.0.2.1",)"
        R"("method":"GET","host":"h","target":"/","status":)" +
        std::to_string(status);
    std::string text = R"(192.0.2.1 - - [28/Nov/2026:10:00:01 +0000] "GET /" )" +
                       std::to_string(status) + " 9 0.001 peer=192.0.2.1";
    for (const auto& [name, value] : fields) {
        json.append(",\"").append(name).append("\":").append(value);
        text.append(" ").append(name).append("=").append(value);
    }
    return is_json ? json + "}" : text;
}

const std::pair<std::string, std::string> decided{"decided", "1795860001122333444"};

TEST_F(readers, our_lines_of_requests_whose_key_or_cost_was_refused)
{
    for (const bool is_json : {true, false}) {
        const auto refused = [&](const std::string& why) {
            return our_line(
                is_json, 400, {{"limit", "\"l\""}, decided, {"error", '"' + why + '"'}}
            );
        };
        for (const char* why :
             {"what the request says of its cost is no whole number within the bounds",
              "cookie:a, which identifies the client, has two values, or is spelled in a way"}) {
            const auto& r = read(refused(why));
            EXPECT_TRUE(r.refused_early) << why;
            EXPECT_EQ(r.was, verdict::rejected) << why;
        }
        const auto& r = read(refused("cookie:a, which identifies the client, is missing"));
        EXPECT_FALSE(r.refused_early);
        EXPECT_EQ(r.was, verdict::rejected);
        const auto& failed = read(our_line(is_json, 502, {decided, {"error", "\"no server\""}}));
        EXPECT_FALSE(failed.refused_early);
        EXPECT_EQ(failed.was, verdict::unjudged);
    }
}

TEST_F(readers, our_lines_of_listeners_without_a_server)
{
    const own_fields_of_line allowed{
        {"route", "\"r\""}, {"upstream", "\"up\""}, {"outcome", "\"allowed\""}, decided};
    for (const bool is_json : {true, false}) {
        EXPECT_TRUE(read(our_line(is_json, 200, allowed)).decided_only);
        EXPECT_FALSE(read(our_line(is_json, 499, allowed)).decided_only);
        for (const char* name : {"server", "error"}) {
            own_fields_of_line more = allowed;
            more.emplace_back(name, "\"x\"");
            EXPECT_FALSE(read(our_line(is_json, 502, more)).decided_only) << name;
        }
        EXPECT_FALSE(read(our_line(is_json, 200, allowed)).asked_by_envoy);
        own_fields_of_line of_envoy = allowed;
        of_envoy[0].second = "\"rate_limit_service:edge\"";
        EXPECT_TRUE(read(our_line(is_json, 200, of_envoy)).asked_by_envoy);
    }
}

TEST_F(readers, our_text)
{
    const auto& r = read(
        R"(192.0.2.1 - - [28/Nov/2026:10:00:01 +0000] "GET /a\x20b" 200 9 0.000123 peer=10.0.0.1 )"
        R"(host="h" route="main" limit="l" outcome="allowed" decided=1795860001122333444 cost=3 )"
        R"(costs="l=3,m=7" tenant="al\"ice")"
    );
    EXPECT_EQ(format(), "the gateway's text");
    EXPECT_EQ(r.at, ten + base::duration{1'122'333'444});
    EXPECT_EQ(r.target, "/a b");
    EXPECT_EQ(r.cost, 3);
    EXPECT_EQ(r.costs, "l=3,m=7");
    EXPECT_EQ(value_of(source::jwt, "sub"), "al\"ice");
    EXPECT_EQ(r.was, verdict::allowed);
}

TEST_F(readers, combined)
{
    const auto& r =
        read(R"(192.0.2.1 - frank lee [28/Nov/2026:10:00:00 +0000] "GET /a?q=1 HTTP/1.1" 200 2326 )"
             R"~("http://example.com/start" "Mozilla \"x\" (X11)")~");
    EXPECT_EQ(format(), "the combined log format");
    EXPECT_EQ(r.at, ten);
    EXPECT_EQ(r.method, "GET");
    EXPECT_EQ(r.target, "/a?q=1");
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(value_of(source::header, "User-Agent"), "Mozilla \"x\" (X11)");
    EXPECT_TRUE(knows(source::query, "q"));
    EXPECT_FALSE(knows(source::host, ""));
    EXPECT_TRUE(r.client_is_peer);
}

TEST_F(readers, combined_with_a_virtual_host_or_without_a_request)
{
    EXPECT_EQ(
        read(
            R"(www.example.com:443 2001:db8::1 - - [28/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-")"
        )
            .host,
        "www.example.com:443"
    );
    EXPECT_EQ(value_of(source::header, "user-agent"), "-");
    EXPECT_TRUE(knows(source::header, "user-agent"));
    for (const char* line :
         {R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "-" 408 - "-" "-")",
          R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "\x16\x03\x01" 400 150 "-" "-")",
          R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "" 400 0 "-" "-")"}) {
        EXPECT_TRUE(read(line).refused_early) << line;
    }
}

TEST_F(readers, combined_with_escapes)
{
    const std::string before = R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "GET )";
    const std::string after = R"( HTTP/1.1" 200 1 "-" "-")";
    EXPECT_EQ(
        read(before + R"(/a\x22b\x5Cx41?q=\xC3\xa4)" + after).target, "/a\"b\\x41?q=\xC3\xA4"
    );
    EXPECT_EQ(read(before + R"(/a\"b\\c)" + after).target, "/a\"b\\c");
    EXPECT_EQ(read(before + R"(/a\x0D\x0AX:b)" + after).target, "/a\r\nX:b");
}

TEST_F(readers, haproxy)
{
    const auto& r = read(
        R"(<134>Nov 28 10:00:00 lb haproxy[14389]: 192.0.2.1:33317 [28/Nov/2026:10:00:00.655] http-in )"
        R"(static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /i?q=1 HTTP/1.1")"
    );
    EXPECT_EQ(format(), "HAProxy's HTTP log format");
    EXPECT_EQ(r.at, ten + std::chrono::milliseconds{655});
    EXPECT_EQ(r.duration, std::chrono::milliseconds{109});
    EXPECT_EQ(r.client.to_string(), "192.0.2.1");
    EXPECT_EQ(r.target, "/i?q=1");
    EXPECT_EQ(r.status, 200);
    EXPECT_TRUE(
        read(R"(192.0.2.1:1 [28/Nov/2026:10:00:00.655] f f/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- )"
             R"(1/1/0/0/0 0/0 "<BADREQ>")")
            .refused_early
    );
    EXPECT_EQ(
        read(R"(192.0.2.1:1 [28/Nov/2026:10:00:00.655] f f/s 0/0/0/0/9 200 0 - - ---- 1/1/0/0/0 )"
             R"(0/0 "GET /a#22b\x#c#2 HTTP/1.1")")
            .target,
        "/a\"b\\x#c#2"
    );
    const auto& unanswered =
        read(R"(192.0.2.1:1 [28/Nov/2026:10:00:00.655] f f/s 0/0/0/-1/9 -1 0 - - CHVN 1/1/0/0/0 )"
             R"(0/0 "GET /i HTTP/1.1")");
    EXPECT_EQ(unanswered.target, "/i");
    EXPECT_EQ(unanswered.status, 0) << "-1 is none";
}

TEST_F(readers, no_status_and_no_cost_is_negative_or_has_other_signs_in_it)
{
    for (const std::string bad : {"-3", "+3", "3x", "", "99999999999999999999"}) {
        const auto& ours = read(
            R"(192.0.2.1 - - [28/Nov/2026:10:00:01 +0000] "GET /a" )" + bad +
            " 9 0.000123 peer=10.0.0.1 cost=" + bad
        );
        EXPECT_EQ(format(), "the gateway's text") << bad;
        EXPECT_EQ(ours.status, 0) << bad;
        EXPECT_EQ(ours.cost, 0) << bad;
        EXPECT_EQ(ours.known & knows_cost, 0U) << bad;
        read(R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" )" + bad + " 9");
        EXPECT_EQ(format(), "") << bad;
    }
}

TEST_F(readers, caddy)
{
    const auto& r = read(
        R"({"level":"info","ts":1795860000.5,"logger":"http.log.access.log0","msg":"handled request",)"
        R"("request":{"remote_ip":"192.0.2.1","remote_port":"4711","proto":"HTTP/1.1","method":"GET",)"
        R"("host":"h:80","uri":"/a?q=1","headers":{"User-Agent":["curl/8"],"Cookie":["REDACTED"],)"
        R"("X-Forwarded-For":["198.51.100.7"]}},"user_id":"","duration":0.25,"size":2,"status":200,)"
        R"("resp_headers":{"Server":["Caddy"]}})"
    );
    EXPECT_EQ(format(), "Caddy's JSON");
    EXPECT_EQ(r.at, ten + std::chrono::milliseconds{250}) << "it came before it was logged";
    EXPECT_EQ(r.target, "/a?q=1");
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(value_of(source::header, "user-agent"), "curl/8");
    EXPECT_EQ(value_of(source::header, "x-forwarded-for"), "198.51.100.7");
    EXPECT_TRUE(r.client_is_peer);
}

TEST_F(readers, json_by_description)
{
    std::string complaint;
    const auto format = described_json(
        "client=c.ip, time=t,path=u,header:User-Agent=ua,status=s", wanted, complaint
    );
    ASSERT_TRUE(format) << complaint;
    const auto& r = read(
        R"({"t":"2026-11-28T10:00:00Z","c":{"ip":"[2001:db8::1]:80"},"u":"/","ua":"x","s":404})",
        format
    );
    EXPECT_EQ(r.client.to_string(), "2001:db8::1");
    EXPECT_EQ(r.status, 404);
    EXPECT_EQ(value_of(source::header, "user-agent"), "x");
    for (const char* fields :
         {"client=a,time=b", "client", "=a", "client=a,time=b,path=", "clint=a,time=b,path=c"}) {
        complaint.clear();
        EXPECT_FALSE(described_json(fields, wanted, complaint)) << fields;
        EXPECT_NE(complaint, "") << fields;
    }
}

TEST_F(readers, nothing_else)
{
    for (const char* line :
         {"",
          "hello",
          "{}",
          R"({"time":"2026-11-28T10:00:00Z"})",
          "192.0.2.1 - -",
          R"(host.example - - [28/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1)",
          R"(192.0.2.1 - - [28/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" two 1)",
          R"({"time":"2026-11-28T10:00:00Z","client":"192.0.2.1","target":"/")"}) {
        read(line);
        EXPECT_EQ(format(), "") << line;
    }
}

}  // namespace readers_test
}  // namespace gateway::replay
