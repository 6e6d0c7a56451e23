// What limits of a route answer, as it is written.
#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"
#include "tests/unit/own_folder.hpp"

#include <filesystem>

namespace gateway::config {
namespace rejection_test {

using testing::HasSubstr;

// A page of 3 bytes beside the configuration.
class rejections : public testing::Test {
protected:
    const unit::own_folder files;
    const std::filesystem::path& folder = files.path();

    rejections() { write("page", "<p>"); }

    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream{folder / name} << text;
    }

    static std::string file_of(const std::string& rejection)
    {
        return file_with("routes: [ { upstream: u, rejection: " + rejection + " } ]");
    }

    settings load(const std::string& rejection) const
    {
        return load_text(file_of(rejection), (folder / "f").string());
    }

    std::string problems(const std::string& rejection) const
    {
        try {
            load(rejection);
            return {};
        } catch (const config_error& e) {
            return e.what();
        }
    }
};

TEST_F(rejections, have_a_page_of_their_own)
{
    const settings s = load("{ status: 503, body_file: page, content_type: text/html }");
    const auto& said = s.policy->routes.at(0).rejection;
    EXPECT_EQ(said->page.status, 503);
    EXPECT_EQ(said->page.body, "<p>");
    EXPECT_EQ(said->page.content_lines, "Content-Type: text/html\r\nCache-Control: no-store\r\n");
    EXPECT_EQ(said->file, (folder / "page").string());
    EXPECT_EQ(
        load("{ body_file: page }").policy->routes.at(0).rejection->page.start_line,
        "HTTP/1.1 429 Too Many Requests\r\n"
    );
    const settings empty = load("{ status: 403 }");
    EXPECT_EQ(empty.policy->routes.at(0).rejection->page.status, 403);
    EXPECT_EQ(empty.policy->routes.at(0).rejection->file, "");
    EXPECT_FALSE(load_text(sample{}.text(), "f").policy->routes.at(0).rejection);
}

TEST_F(rejections, that_cannot_be_are_complained_of)
{
    write("large", std::string(64 * 1024 + 1, 'x'));
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"429", ": "},
        {"{ status: 199 }", ".status: "},
        {"{ status: 399 }", ".status: expected 400 to 599, or 200 with \"format: jsonrpc\""},
        {"{ status: 200, format: openai }", ".status: expected 400 to 599, or 200 with"},
        {"{ status: 200, body_file: page }", ".status: expected 400 to 599, or 200 with"},
        {"{ status: 500, format: openai }", ".status: without \"body_file\", expected 403"},
        {"{ format: open_ai }", ".format: "},
        {"{ upstream: v }", ".upstream: unknown upstream \"v\""},
        {"{ format: openai, body_file: page }", ".format: not with \"body_file\""},
        {"{ status: 600 }", ".status: "},
        {"{ status: 420 }", ".status: without \"body_file\", expected 403, 429 or 503"},
        {"{ content_type: a/b }", ".content_type: has no effect without \"body_file\""},
        {"{ body_file: page, content_type: \"\" }", ".content_type: expected a media type"},
        {"{ body_file: none }",
         ".body_file: \"" + (folder / "none").string() + "\" cannot be read"},
        {"{ body_file: large }",
         ".body_file: \"" + (folder / "large").string() + "\" is larger than 65536 bytes"},
        {"{ body: x }", ".body: unknown key"},
    };
    for (const auto& [written, complaint] : rows) {
        EXPECT_THAT(problems(written), HasSubstr("routes[0].rejection" + complaint)) << written;
    }
}

TEST_F(rejections, have_the_form_of_an_api)
{
    const auto loaded = [this](const std::string& rejection) {
        return *load(rejection).policy->routes.at(0).rejection;
    };
    EXPECT_EQ(loaded("{ status: 503 }").format, http::error_format::problem);
    EXPECT_EQ(loaded("{ format: openai }").format, http::error_format::openai);
    EXPECT_EQ(loaded("{ format: openai }").page.status, 429);
    EXPECT_EQ(loaded("{ format: anthropic, status: 503 }").page.status, 503);
    EXPECT_FALSE(loaded("{ format: jsonrpc }").rejects_with_200);
    EXPECT_TRUE(loaded("{ format: jsonrpc, status: 200 }").rejects_with_200);
    EXPECT_EQ(loaded("{ format: jsonrpc, status: 200 }").page.status, 429);
}

TEST_F(rejections, may_be_for_another_upstream)
{
    const policy::route route = load("{ upstream: u, status: 503 }").policy->routes.at(0);
    EXPECT_TRUE(route.serves_over_limit());
    EXPECT_EQ(route.rejection->upstream, 0U);
    EXPECT_EQ(route.rejection->page.status, 503);
    EXPECT_TRUE(route.shaped);
    EXPECT_TRUE(route.shape.request.takes_out("x_over-limit"));
    EXPECT_FALSE(load("{ status: 503 }").policy->routes.at(0).serves_over_limit());
    EXPECT_FALSE(load("{ status: 503 }").policy->routes.at(0).shaped);
    EXPECT_THAT(
        problems_of(file_with("routes: [ { redirect: { to: / }, rejection: { upstream: u } } ]")),
        HasSubstr("routes[0].rejection: \"upstream\" is not for a route with \"redirect\"")
    );
}

TEST_F(rejections, for_another_upstream_need_a_listener_that_forwards)
{
    const auto warnings = [](const std::string& decide) {
        sample s;
        s.listeners = "listeners: [ { address: 127.0.0.1:1" + decide + " } ]\n";
        s.routes = "routes: [ { limits: [a], upstream: u, rejection: { upstream: u } } ]\n";
        return s.load().warnings;
    };
    EXPECT_THAT(
        warnings(", decide: true"),
        testing::Contains(HasSubstr("routes[0].rejection.upstream: has no effect"))
    );
    EXPECT_THAT(warnings(""), testing::IsEmpty());
}

TEST_F(rejections, are_printed_as_they_may_be_written)
{
    EXPECT_THAT(
        print(load("{ format: jsonrpc, status: 200 }")),
        HasSubstr("rejection: { status: 200, format: jsonrpc }")
    );
    EXPECT_THAT(print(load("{ format: problem }")), HasSubstr("rejection: { status: 429 }"));
    for (const char* written :
         {"{ status: 503 }",
          "{ body_file: page, content_type: text/html }",
          "{ format: jsonrpc, status: 200 }",
          "{ upstream: u, format: openai }"}) {
        const std::string printed = print(load(written));
        EXPECT_THAT(printed, HasSubstr("rejection: { "));
        EXPECT_EQ(print(load_text(printed, "f")), printed);
    }
}

TEST_F(rejections, of_json_rpc_need_a_path_of_their_own)
{
    const auto with_paths = [](int count) {
        std::string limits;
        for (int i = 0; i < count; ++i) {
            const std::string n = std::to_string(i);
            limits += "l" + n + ": { key: 'json:p" + n + "', missing_key: skip, rate: 1/s }, ";
        }
        sample file;
        file.limits = "limits: { " + limits + "}\n";
        file.routes = "routes: [ { upstream: u, rejection: { format: jsonrpc } } ]\n";
        return file.text();
    };
    EXPECT_EQ(problems_of(with_paths(63)), "");
    EXPECT_THAT(problems_of(with_paths(64)), HasSubstr("one path more than the 64"));
}

}  // namespace rejection_test
}  // namespace gateway::config
