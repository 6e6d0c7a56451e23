// Configurations of several files.
#include "config/text/includes.hpp"

#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"
#include "tests/unit/own_folder.hpp"

#include <filesystem>

namespace gateway::config {
namespace includes_test {

using testing::HasSubstr;
using testing::StartsWith;

class includes : public testing::Test {
protected:
    const unit::own_folder files;
    const std::filesystem::path& folder = files.path();
    const std::string main = (folder / "gateway.yaml").string();

    includes() { std::filesystem::create_directories(folder / "conf.d"); }

    std::string write(const std::string& name, const std::string& text) const
    {
        std::ofstream{folder / name} << text;
        return (folder / name).string();
    }

    // Of the sample, with these keys in front.
    settings load(const std::string& front) const
    {
        sample s;
        s.rest = front + "\n";
        return load_file(write("gateway.yaml", s.text()));
    }

    // Without the folder of the test.
    std::string problems(const std::string& front) const
    {
        try {
            load(front);
            return {};
        } catch (const config_error& e) {
            std::string text = e.what();
            const std::string own = folder.string() + '/';
            for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own)) {
                text.erase(at, own.size());
            }
            return text;
        }
    }
};

TEST_F(includes, add_to_lists_and_mappings_in_the_order_of_their_names)
{
    write("conf.d/b.yaml", "routes: [ { match: { path: /b }, upstream: v } ]\n");
    write(
        "conf.d/a.yaml",
        "upstreams: { v: { servers: [echo] } }\nhttp: { max_headers: 7 }\n"
        "routes: [ { match: { path: /a }, upstream: v } ]\n"
    );
    write("conf.d/not-this", "no: configuration");
    const settings s = load("include: [conf.d/*.yaml]\nhttp: { idle_timeout: 9s }");
    ASSERT_EQ(s.policy->routes.size(), 3U);
    EXPECT_EQ(s.policy->routes[0].name, "/");
    EXPECT_EQ(s.policy->routes[1].name, "/a");
    EXPECT_EQ(s.policy->routes[2].name, "/b");
    EXPECT_EQ(s.policy->upstreams, (std::vector<std::string>{"u", "v"}));
    EXPECT_EQ(s.http.max_headers, 7U);
    EXPECT_EQ(s.http.idle_timeout, std::chrono::seconds{9});
    EXPECT_EQ(print(load_text(print(s), "f")), print(s)) << "printed as one file";
}

TEST_F(includes, are_named_from_the_folder_of_the_file_that_includes_them)
{
    write("conf.d/first", "include: [second]\nhttp: { max_headers: 7 }\n");
    const std::string second = write("conf.d/second", "http: { idle_timeout: 9s }\n");
    EXPECT_EQ(load("include: [conf.d/first]").http.idle_timeout, std::chrono::seconds{9});
    EXPECT_EQ(load("include: [\"" + second + "\"]").http.idle_timeout, std::chrono::seconds{9});
    EXPECT_EQ(problems("include: [conf.d/*.none]"), "") << "a pattern may match nothing";
    EXPECT_EQ(problems("include: []"), "");
}

TEST_F(includes, add_nothing_if_everything_in_them_is_commented_out)
{
    write("conf.d/a.yaml", "# http: { max_headers: 7 }\n");
    write("conf.d/b.yaml", "");
    write("conf.d/c.yaml", "http: { max_headers: 8 }\n");
    EXPECT_EQ(load("include: [conf.d/*.yaml]").http.max_headers, 8U);
}

TEST_F(includes, problems_have_the_positions_of_their_own_files)
{
    write("conf.d/a.yaml", "\n\nhttp: { max_headerz: 7 }\n");
    write("conf.d/b.yaml", "limits:\n  a: { key: client_ip, rate: 1/s }\n");
    write(
        "conf.d/c.yaml", "routes:\n  - { upstream: u }\n  - { match: { path: / }, upstream: u }\n"
    );
    write("conf.d/d.yaml", "workers: 1\n");
    EXPECT_EQ(
        problems("include: [conf.d/*]\nworkers: 2"),
        "conf.d/a.yaml:3:9: http.max_headerz: unknown key, did you mean \"max_headers\"?\n"
        "conf.d/b.yaml:2:3: limits.a: duplicate key, first on gateway.yaml:4\n"
        "conf.d/c.yaml:3:5: routes[2]: matches the same requests as routes[0] (gateway.yaml:8)\n"
        "conf.d/d.yaml:1:1: workers: duplicate key, first on gateway.yaml:2"
    );
}

TEST_F(includes, that_are_no_configuration_are_told)
{
    write("list", "- a\n");
    write("broken", "a: 1\nb: [\n");
    write("kind", "routes: { a: b }\n");
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"conf.d/*", "gateway.yaml:1:10: include: expected a list of files, got a plain value"},
        {"[{ a: b }]", "gateway.yaml:1:11: include: expected the path of a file"},
        {"[none]", "gateway.yaml:1:11: include: \"none\" cannot be read: No such file"},
        {"[conf.d]",
         "gateway.yaml:1:11: include: \"conf.d\" cannot be read: it is no regular file"},
        {"[none/*]", "gateway.yaml:1:11: include: the folder of \"none/*\" cannot be read"},
        {"[\"*/a\"]", "gateway.yaml:1:11: include: a pattern is of the names in one folder"},
        {"[kind, k*d]", "gateway.yaml:1:17: include: \"kind\" is read already"},
        {"[gateway.yaml]", "gateway.yaml:1:11: include: \"gateway.yaml\" is read already"},
        {"[list]", "list:1:1: expected a mapping, got a list"},
        {"[broken]", "broken:"},
        {"[kind]", "kind:1:1: routes: duplicate key, first on gateway.yaml:6"},
    };
    for (const auto& [written, complaint] : rows) {
        EXPECT_THAT('\n' + problems("include: " + written), HasSubstr('\n' + complaint)) << written;
    }
}

TEST_F(includes, have_bounds_of_depth_number_and_size)
{
    for (int i = 0; i < 9; ++i) {
        write("deep" + std::to_string(i), "include: [deep" + std::to_string(i + 1) + "]\n");
    }
    EXPECT_EQ(
        problems("include: [deep0]"),
        "deep7:1:11: include: files include each other more than 8 levels deep"
    );
    for (int i = 0; i < 1001; ++i) {
        write("conf.d/" + std::to_string(i), "http: {}\n");
    }
    EXPECT_EQ(problems("include: [conf.d/*]"), "gateway.yaml:1:11: include: more than 1000 files");
    write("half", "# " + std::string(max_file_bytes / 2, 'x') + "\nhttp: {}\n");
    write("rest", "# " + std::string(max_file_bytes / 2, 'x') + "\nhttp: {}\n");
    EXPECT_EQ(problems("include: [half]"), "");
    EXPECT_EQ(
        problems("include: [half, rest]"),
        "gateway.yaml:1:17: include: with \"rest\", larger than the maximum of 16MiB"
    );
}

}  // namespace includes_test
}  // namespace gateway::config
