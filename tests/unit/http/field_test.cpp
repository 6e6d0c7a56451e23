#include "gateway/http/field.hpp"

#include "gateway/http/chars.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace gateway::http {
namespace field_test {

const std::vector<std::pair<std::string, field_name>> known_fields = {
    {"connection", field_name::connection},
    {"content-length", field_name::content_length},
    {"cookie", field_name::cookie},
    {"expect", field_name::expect},
    {"forwarded", field_name::forwarded},
    {"host", field_name::host},
    {"http2-settings", field_name::http2_settings},
    {"keep-alive", field_name::keep_alive},
    {"max-forwards", field_name::max_forwards},
    {"proxy-connection", field_name::proxy_connection},
    {"script_name", field_name::rewrites_target},
    {"te", field_name::te},
    {"traceparent", field_name::traceparent},
    {"tracestate", field_name::tracestate},
    {"trailer", field_name::trailer},
    {"transfer-encoding", field_name::transfer_encoding},
    {"upgrade", field_name::upgrade},
    {"via", field_name::via},
    {"x-forwarded-port", field_name::x_forwarded},
    {"x-forwarded-prefix", field_name::x_forwarded},
    {"x-forwarded-x", field_name::x_forwarded},
    {"x-forwarded-something-longer-than-all-others", field_name::x_forwarded},
    {"x-forwarded-for", field_name::x_forwarded_for},
    {"x-forwarded-host", field_name::x_forwarded_host},
    {"x-forwarded-proto", field_name::x_forwarded_proto},
    {"x-original-method", field_name::rewrites_target},
    {"x-original-url", field_name::rewrites_target},
    {"x-original-something-longer-than-all-others", field_name::rewrites_target},
    {"x-rewrite-url", field_name::rewrites_target},
    {"x-script-name", field_name::rewrites_target},
    {"x-ratelimit-limit", field_name::x_ratelimit},
    {"x-ratelimit-remaining", field_name::x_ratelimit},
    {"x-ratelimit-reset", field_name::x_ratelimit},
    {"x-real-ip", field_name::x_real_ip},
    {"x-request-id", field_name::x_request_id},
};

TEST(field, known_names_are_told_in_any_case)
{
    for (const auto& [name, id] : known_fields) {
        std::string spelled = name;
        EXPECT_EQ(classify(spelled), id) << spelled;
        for (char& c : spelled) {
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        }
        EXPECT_EQ(classify(spelled), id) << spelled;
        for (std::size_t i = 0; i < spelled.size(); i += 2) {
            spelled[i] = name[i];
        }
        EXPECT_EQ(classify(spelled), id) << spelled;
    }
}

TEST(field, a_known_name_with_one_character_changed_added_or_missing_is_not_it)
{
    for (const auto& [name, id] : known_fields) {
        if (id == field_name::x_forwarded || name.starts_with("x-original-")) {
            continue;  // go on as they like
        }
        for (std::size_t i = 0; i < name.size(); ++i) {
            std::string changed = name;
            changed[i] = changed[i] == 'q' ? 'j' : 'q';
            EXPECT_NE(classify(changed), id) << changed;
            changed = name;
            changed.erase(i, 1);
            EXPECT_NE(classify(changed.empty() ? "q" : changed), id) << changed;
            changed = name;
            changed.insert(i, "q");
            EXPECT_NE(classify(changed), id) << changed;
        }
        EXPECT_NE(classify(name + "q"), id) << name;
    }
}

TEST(field, a_name_that_a_backend_could_take_for_a_known_one_is_disguised)
{
    for (const char mark : std::string("_.!#$%&'*+^`|~")) {
        for (const auto& [name, id] : known_fields) {
            std::string spelled = name;
            for (char& c : spelled) {
                if (c == '-') {
                    c = mark;
                    EXPECT_EQ(classify(spelled), field_name::disguised) << spelled;
                }
            }
        }
    }
    EXPECT_EQ(classify("X-Forwarded_For"), field_name::disguised);
    EXPECT_EQ(classify("X_FORWARDED_ANYTHING"), field_name::disguised);
    EXPECT_EQ(classify("x-forwarded-a_b"), field_name::disguised);
    EXPECT_EQ(classify("X_ORIGINAL_URL"), field_name::disguised);
    EXPECT_EQ(classify("Script-Name"), field_name::disguised);
}

TEST(field, other_names_stay_what_they_are)
{
    for (const char* name :
         {"accept",
          "x_custom",
          "x-forwarded-",
          "x-forwarded",
          "x-original-",
          "x-original",
          "x-rewrite-urls",
          "xforwardedfor",
          "hosts",
          "te-te",
          "-",
          "_",
          "x-ratelimit-",
          "content-lengths",
          "transfer-encodings",
          "a",
          "x-request-ids",
          "cookie2"}) {
        EXPECT_EQ(classify(name), field_name::other) << name;
    }
}

TEST(field, two_names_read_alike_when_only_case_and_marks_differ)
{
    EXPECT_TRUE(reads_as("CF_Connecting-IP", "cf-connecting-ip"));
    EXPECT_TRUE(reads_as("cf-connecting-ip", "cf-connecting-ip"));
    EXPECT_FALSE(reads_as("cf-connecting-ipx", "cf-connecting-ip"));
    EXPECT_FALSE(reads_as("cf-connecting-iq", "cf-connecting-ip"));
    EXPECT_FALSE(reads_as("cf-connecting-ip", ""));
}

TEST(field, hop_by_hop_fields_are_those_about_one_connection)
{
    for (const auto& [name, id] : known_fields) {
        const bool expected = name == "connection" || name == "keep-alive" ||
                              name == "proxy-connection" || name == "te" || name == "trailer" ||
                              name == "transfer-encoding" || name == "upgrade" ||
                              name == "http2-settings";
        EXPECT_EQ(hop_by_hop.contains(id), expected) << name;
    }
    EXPECT_TRUE(hop_by_hop.contains(field_name::disguised));
    EXPECT_FALSE(hop_by_hop.contains(field_name::other));
}

}  // namespace field_test
}  // namespace gateway::http
