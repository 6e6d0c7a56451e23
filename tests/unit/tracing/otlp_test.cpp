#include "gateway/tracing/otlp.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace gateway::tracing {
namespace otlp_test {

span example()
{
    span s{
        .trace = {1, 0xab},
        .id = 2,
        .parent = 3,
        .is = span::kind::client,
        .name = "GET",
        .begin = std::chrono::nanoseconds{1'700'000'000'000'000'001},
        .end = std::chrono::nanoseconds{1'700'000'000'000'000'009},
        .failed = true};
    s.add("url.path", "/a");
    s.add("http.response.status_code", 502);
    s.add("left.out", "");
    return s;
}

boost::json::value encoded(const std::vector<span>& spans)
{
    return boost::json::parse(encode_spans(spans, {"edge", "1.2", "i"})).at("resourceSpans").at(0);
}

TEST(otlp, has_ids_in_hexadecimal_and_large_numbers_as_texts)
{
    const auto all = encoded({example()});
    const auto& s = all.at("scopeSpans").at(0).at("spans").at(0);
    EXPECT_EQ(s.at("traceId"), "000000000000000100000000000000ab");
    EXPECT_EQ(s.at("spanId"), "0000000000000002");
    EXPECT_EQ(s.at("parentSpanId"), "0000000000000003");
    EXPECT_EQ(s.at("kind"), 3);
    EXPECT_EQ(s.at("startTimeUnixNano"), "1700000000000000001");
    EXPECT_EQ(s.at("endTimeUnixNano"), "1700000000000000009");
    EXPECT_EQ(s.at("status").at("code"), 2);
    EXPECT_EQ(
        s.at("attributes"), boost::json::parse(R"([{"key":"url.path","value":{"stringValue":"/a"}},
            {"key":"http.response.status_code","value":{"intValue":"502"}}])")
    );
    EXPECT_EQ(
        all.at("resource").at("attributes").at(0),
        boost::json::parse(R"({"key":"service.name","value":{"stringValue":"edge"}})")
    );
}

TEST(otlp, leaves_out_a_parent_and_a_status_that_there_are_not)
{
    const auto all = encoded({span{.trace = {1, 1}, .id = 1}});
    const auto& s = all.at("scopeSpans").at(0).at("spans").at(0).as_object();
    EXPECT_FALSE(s.contains("parentSpanId"));
    EXPECT_FALSE(s.contains("status"));
}

TEST(otlp, cuts_a_long_text_in_front_of_a_whole_character)
{
    span s{.trace = {1, 1}, .id = 1};
    s.add("long", std::string(max_attribute_bytes - 1, 'a') + "\xe2\x82\xac");
    EXPECT_EQ(
        std::get<std::string>(s.attributes.at(0).value), std::string(max_attribute_bytes - 1, 'a')
    );
}

TEST(otlp, is_json_whatever_the_bytes)
{
    span s = example();
    s.name = "x\"\\\r\n\x01\xff";
    s.add("bad", "\xc0\xaf{}");
    s.add("long", std::string(100'000, 'x'));
    const auto all = encoded({s});
    const auto& attributes = all.at("scopeSpans").at(0).at("spans").at(0).at("attributes");
    EXPECT_EQ(attributes.at(2).at("value").at("stringValue"), "\ufffd\ufffd{}");
    EXPECT_EQ(
        attributes.at(3).at("value").at("stringValue").as_string().size(), max_attribute_bytes
    );
}

TEST(otlp, reads_what_a_collector_rejects)
{
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":"5"}})"), 5U);
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":7,"errorMessage":"x"}})"), 7U);
    for (const auto* nothing :
         {"",
          "{}",
          "[]",
          "nonsense",
          R"({"partialSuccess":1})",
          R"({"partialSuccess":{}})",
          R"({"partialSuccess":{"rejectedSpans":-1}})",
          R"({"partialSuccess":{"rejectedSpans":"x"}})"}) {
        EXPECT_EQ(rejected_spans(nothing), 0U) << nothing;
    }
}

}  // namespace otlp_test
}  // namespace gateway::tracing
