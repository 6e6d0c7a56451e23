// Raw requests kept outside the tree, if GATEWAY_CASES names their directory: smuggling.jsonl, one
// object a line with `raw` (code points are bytes), `expect` and `also_ok`. Whatever may only be
// rejected must fail in its head, its body, or in what follows on the connection.
#include "gateway/http/input/body_reader.hpp"
#include "tests/unit/http/heads.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <cstdlib>
#include <fstream>

namespace gateway::http {
namespace recorded_requests_test {

using testing::state;

// UTF-8 of code points below U+0100, back to the bytes they stand for.
std::string bytes_of(std::string_view text)
{
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto low = c < 0x80 ? 0u : static_cast<unsigned char>(text[++i]) & 0x3fu;
        bytes.push_back(c < 0x80 ? text[i] : static_cast<char>((c & 0x03u) << 6 | low));
    }
    return bytes;
}

bool is_refused(const std::string& raw)
{
    request_head head;
    if (parse_request_head(raw, {}, head).is != state::complete) {
        return true;  // what is incomplete here is never answered but by a timeout
    }
    std::string rest = raw.substr(head.size);
    body_reader body(head.body);
    return body.read(rest).malformed || !body.done();
}

bool only_rejection_is_right(const boost::json::object& c)
{
    const auto rejects = [](const boost::json::value& outcome) {
        const boost::json::string_view text = outcome.as_string();
        return text.starts_with("reject") || text.starts_with("close") ||
               text == "forward-aborted-request";
    };
    bool all = rejects(c.at("expect"));
    for (const boost::json::value& other : c.at("also_ok").as_array()) {
        all = all && rejects(other);
    }
    return all;
}

TEST(recorded_requests, those_that_may_only_be_rejected_are)
{
    const char* const directory = std::getenv("GATEWAY_CASES");
    if (directory == nullptr) {
        GTEST_SKIP() << "GATEWAY_CASES is not set";
    }
    std::ifstream file(std::string(directory) + "/smuggling.jsonl");
    int rejections = 0;
    for (std::string line; std::getline(file, line);) {
        const boost::json::object c = boost::json::parse(line).as_object();
        const std::string raw = bytes_of(c.at("raw").as_string());
        if (raw.size() < 4096) {
            testing::expect_request_same_however_split(raw);
        }
        if (only_rejection_is_right(c)) {
            ++rejections;
            EXPECT_TRUE(is_refused(raw))
                << c.at("id").as_string() << " " << c.at("title").as_string();
        } else if (c.at("expect").as_string().starts_with("forward-exactly") && !c.contains("client_half_closes_after_send")) {
            EXPECT_FALSE(is_refused(raw))
                << c.at("id").as_string() << " " << c.at("title").as_string();
        }
    }
    EXPECT_GT(rejections, 0);
}

}  // namespace recorded_requests_test
}  // namespace gateway::http
