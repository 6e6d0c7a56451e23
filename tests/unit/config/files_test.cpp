// The configurations people copy from: the example, and those in the documentation.
#include "config/print.hpp"
#include "config/text/hints.hpp"
#include "tests/unit/config/sample.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace gateway::config {
namespace files_test {

namespace fs = std::filesystem;

const fs::path source{SOURCE_DIR};

std::string example()
{
    return contents_of(source / "gateway.yaml.example");
}

// Unknown keys of a name unlike any other are answered with the list of known ones.
std::set<std::string> keys_known_to_the_reader()
{
    const std::string bad = "{ zzzzzzzzzzzzzzzz: }";
    const std::string text =
        "zzzzzzzzzzzzzzzz:\nlisteners: [" + bad + "]\nadmin: " + bad + "\nhttp: " + bad +
        "\njwt: " + bad + "\nclient: " + bad + "\nstores: { local: " + bad +
        ", s: { breaker: " + bad + ", zzzzzzzzzzzzzzzz: }}\nlimits: { a: " + bad +
        "}\nroutes: [{ match: " + bad +
        ", zzzzzzzzzzzzzzzz: }]\nupstreams: { u: { resolver: " + bad +
        ", zzzzzzzzzzzzzzzz: }}\nresponse_headers: " + bad + "\nlog: " + bad + "\n";
    const std::string problems = problems_of(text);
    std::set<std::string> keys;
    const std::regex list{"known here: ([a-z0-9_, ]+)"};
    for (std::sregex_iterator line{problems.begin(), problems.end(), list};
         line != std::sregex_iterator{};
         ++line) {
        std::istringstream words{(*line)[1].str()};
        std::string word;
        while (words >> word) {
            keys.insert(word.substr(0, word.find(',')));
        }
    }
    return keys;
}

// The files that the documentation's configurations name in /etc/gateway/ are those beside this
// test.
std::string with_own_files(const std::string& configuration)
{
    const std::string own = (source / "tests" / "unit" / "config").string() + '/';
    return std::regex_replace(configuration, std::regex{"/etc/gateway/"}, own);
}

// The fenced ```yaml blocks of a Markdown file that are whole configurations.
std::vector<std::string> configurations_in(const fs::path& markdown)
{
    std::vector<std::string> found;
    std::istringstream lines{contents_of(markdown)};
    std::string block;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            if (inside && ("\n" + block).find("\nlisteners:") != std::string::npos) {
                found.push_back(block);
            }
            inside = line == "```yaml";
            block.clear();
        } else if (inside) {
            block += line + '\n';
        }
    }
    return found;
}

TEST(files, the_example_loads_without_a_warning_and_limits_quickly)
{
    const settings s = load_text(example(), "gateway.yaml.example");
    EXPECT_TRUE(s.warnings.empty());
    ASSERT_EQ(s.policy->limits.size(), 1U);
    EXPECT_LE(s.policy->limits[0].limit.burst(), 5);
    EXPECT_TRUE(s.upstreams.at(0).servers.at(0).address.echo);
    EXPECT_EQ(s.server.listeners.at(0).address.host, "127.0.0.1");
    EXPECT_TRUE(s.shared_stores.empty());
}

TEST(files, the_example_shows_every_key_the_reader_knows)
{
    const std::set<std::string> keys = keys_known_to_the_reader();
    EXPECT_GE(keys.size(), 75U);
    EXPECT_TRUE(keys.contains("path_exact"));
    EXPECT_TRUE(keys.contains("key_prefix"));
    EXPECT_TRUE(keys.contains("pause"));
    EXPECT_TRUE(keys.contains("max_addresses"));
    const std::string text = example();
    for (const std::string& key : keys) {
        EXPECT_TRUE(std::regex_search(text, std::regex{"(^|\n)[ #-]*" + key + ":"})) << key;
    }
}

// An answer must not outlive the key that it names, or hide a key of ours.
TEST(files, foreign_keys_are_answered_with_keys_that_exist)
{
    const std::set<std::string> known = keys_known_to_the_reader();
    for (const auto& [foreign, ours] : foreign_keys()) {
        const std::string last{ours.substr(ours.rfind('.') + 1)};
        EXPECT_TRUE(known.contains(last)) << foreign;
        EXPECT_EQ(
            answer_to_foreign_key(foreign),
            "unknown key, did you mean \"" + std::string{ours} + "\"?"
        );
    }
    for (const std::string& key : known) {
        if (key != "tls") {  // a key of ours in three places, and foreign in all others
            EXPECT_EQ(answer_to_foreign_key(key), "") << key;
        }
    }
    for (const char* where : {"listeners.tls", "upstreams.NAME.tls", "stores.NAME.tls"}) {
        EXPECT_NE(answer_to_foreign_key("tls").find(where), std::string::npos) << where;
    }
    EXPECT_EQ(answer_to_foreign_key("Health-Checks"), answer_to_foreign_key("healthCheck"));
    EXPECT_EQ(answer_to_foreign_key(std::string(100'000, 'x')), "");
}

TEST(files, the_documentation_names_every_key)
{
    const std::string text = contents_of(source / "docs" / "configuration.md");
    for (const std::string& key : keys_known_to_the_reader()) {
        EXPECT_NE(text.find('`' + key + '`'), std::string::npos) << key;
    }
}

TEST(files, the_defaults_of_the_example_are_the_real_ones)
{
    sample least;
    least.limits = "limits: { per_client: { key: client_ip, rate: 30/m, burst: 5 } }\n";
    least.routes = "routes: [{ match: { path: / }, limits: [per_client], upstream: backend }]\n";
    least.upstreams = "upstreams: { backend: { servers: [echo] } }\n";
    EXPECT_EQ(print(load_text(example(), "f")), print(least.load()));
}

TEST(files, every_whole_configuration_in_the_documentation_loads)
{
    std::vector<fs::path> documents{source / "README.md"};
    for (const auto& file : fs::directory_iterator{source / "docs"}) {
        if (file.path().extension() == ".md") {
            documents.push_back(file.path());
        }
    }
    std::size_t loaded = 0;
    for (const fs::path& document : documents) {
        for (const std::string& text : configurations_in(document)) {
            EXPECT_EQ(problems_of(with_own_files(text)), "") << document << '\n' << text;
            ++loaded;
        }
    }
    EXPECT_GE(loaded, 2U);
}

TEST(files, no_mutation_of_the_example_does_worse_than_a_complaint)
{
    const std::string original = example();
    std::mt19937 random{7};
    const std::string spice = "[]{}:,-#&*!|>'\"%@`? \n\t\r~<=0159az\x7f\xff";
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        std::string text = original;
        for (std::size_t edits = 1 + random() % 8; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = spice[random() % spice.size()];
                    break;
                case 1:
                    text.insert(at, 1, spice[random() % spice.size()]);
                    break;
                case 2:
                    text.erase(at, 1 + random() % 20);
                    break;
                default:
                    text.insert(at, original.substr(random() % original.size(), random() % 80));
                    break;
            }
        }
        const std::string problems = problems_of(text);
        refused += problems.empty() ? 0 : 1;
        if (problems.empty()) {
            const std::string printed = print(load_text(text, "f"));
            EXPECT_EQ(print(load_text(printed, "f")), printed) << text;
        }
    }
    EXPECT_GT(refused, 100);
    EXPECT_LT(refused, 400);
}

}  // namespace files_test
}  // namespace gateway::config
