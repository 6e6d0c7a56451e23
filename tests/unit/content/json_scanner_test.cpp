#include "gateway/content/json_scanner.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace gateway::content {
namespace json_scanner_test {

using kind = json_sink::kind;

// What a scan has found, in the order in which it came.
class findings final : public json_sink {
public:
    std::vector<std::string> all;

    void found(std::size_t path, kind is, std::string_view text) override
    {
        static constexpr std::array<const char*, 7> names{
            "text", "integer", "boolean", "null", "large", "inexact", "other"};
        all.push_back(
            std::to_string(path) + " " + names[static_cast<std::size_t>(is)] + " " +
            std::string{text}
        );
    }

    void repeated(path_set paths) override { all.push_back("repeated " + std::to_string(paths)); }
};

struct result {
    std::vector<std::string> found;
    bool is_whole = false;
    bool is_object = false;

    bool operator==(const result&) const = default;
};

// Scans a text in pieces of this size; 0: as one.
result scan(
    const json_paths& paths,
    const std::string& text,
    std::size_t piece = 0,
    json_scanner::rules by = json_scanner::rules::strict
)
{
    findings found;
    json_scanner scanner{paths, found, by};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = piece == 0 ? text.size() : piece;
        scanner.read(std::string_view{text}.substr(at, size));
        at += size;
    }
    const bool is_whole = scanner.finish();
    return {found.all, is_whole, scanner.is_object()};
}

json_paths paths_of(std::initializer_list<const char*> all)
{
    json_paths paths;
    for (const char* const path : all) {
        paths.add(path);
    }
    return paths;
}

class scans : public ::testing::Test {
protected:
    json_paths paths = paths_of({"a", "b.c", "b.0.d", "list.1"});

    // Expects these findings, however the text is cut.
    void expect(
        const std::string& text, const std::vector<std::string>& found, bool is_whole = true
    )
    {
        const result whole = scan(paths, text);
        EXPECT_EQ(whole.found, found) << text;
        EXPECT_EQ(whole.is_whole, is_whole) << text;
        for (std::size_t piece = 1; piece < text.size(); ++piece) {
            const result cut = scan(paths, text, piece);
            EXPECT_EQ(cut.is_whole, is_whole) << text << " in pieces of " << piece;
            if (is_whole) {
                EXPECT_EQ(cut.found, found) << text << " in pieces of " << piece;
            }
        }
    }
};

TEST_F(scans, find_values_wherever_they_stand)
{
    expect(R"({"a":"x"})", {"0 text x"});
    expect(R"( { "z" : [ {"a":1} ] , "a" : -7 } )", {"0 integer -7"});
    expect(R"({"b":{"c":true},"a":false})", {"1 boolean true", "0 boolean false"});
    expect(R"({"b":[{"d":"e"}]})", {"2 text e"});
    expect(R"({"b":{"0":{"d":"e"}}})", {"2 text e"});
    expect(R"({"list":[0,"one",2]})", {"3 text one"});
    expect(R"({"list":[[1,2],[3]]})", {"3 other "});
    expect(R"({"list":{"1":5}})", {"3 integer 5"});
    expect(R"({"a":""})", {"0 text "});
    expect("{}", {});
    expect("[]", {});
    expect("7", {});
}

TEST_F(scans, read_each_spelling_as_one)
{
    expect(R"({"\u0061":"m\u006fdel"})", {"0 text model"});
    expect(R"({"a":"\ud83d\ude00\n\/"})", {"0 text \xf0\x9f\x98\x80\n/"});
    expect(R"({"a":1.0})", {"0 integer 1"});
    expect(R"({"a":100e-2})", {"0 integer 1"});
    expect(R"({"a":"\u0000"})", {std::string{"0 text "} + '\0'});
}

TEST_F(scans, count_other_values_as_others)
{
    expect(R"({"a":null})", {"0 null "});
    expect(R"({"a":9007199254740993})", {"0 large 9007199254740993"});
    expect(R"({"a":1e400})", {"0 large 1e400"});
    for (const char* value : {"1.5", "{}", "[1]", "-9007199254740993"}) {
        expect(std::string{"{\"a\":"} + value + "}", {"0 other "});
    }
    const std::string longest(json_scanner::longest_text, 'x');
    EXPECT_EQ(scan(paths, "{\"a\":\"" + longest + "\"}").found[0], "0 text " + longest);
    EXPECT_EQ(scan(paths, "{\"a\":\"" + longest + "x\"}").found[0], "0 other ");
}

TEST_F(scans, tell_numbers_that_parsers_may_round_to_integers)
{
    for (const char* value :
         {"7.00000000000000000001",
          "6.99999999999999999999",
          "700000000000000000001e-20",
          "1e-400",
          "-1e-999",
          "9007199254740990.9999999"}) {
        expect(std::string{"{\"a\":"} + value + "}", {"0 inexact "});
    }
    EXPECT_EQ(scan(paths, "{\"a\":" + std::string(5000, '1') + "}").found[0], "0 inexact ");
    for (const char* value : {"7.5", "7.001", "-0.5", "1e-300", "90071992547409921.5"}) {
        expect(std::string{"{\"a\":"} + value + "}", {"0 other "});
    }
}

TEST_F(scans, report_members_that_occur_twice)
{
    expect(R"({"a":1,"a":1})", {"0 integer 1", "repeated 1", "0 integer 1"});
    expect(R"({"a":1,"\u0061":2})", {"0 integer 1", "repeated 1", "0 integer 2"});
    expect(R"({"b":{},"b":{"c":1}})", {"repeated 6", "1 integer 1"});
    expect(R"({"x":{"a":1,"a":2},"x":0})", {});
    expect(R"({"A":1,"a":2})", {"0 integer 2"});
    expect(
        R"({"list":[1,2],"b":[{"d":1,"d":2}]})",
        {"3 integer 2", "2 integer 1", "repeated 4", "2 integer 2"}
    );
}

TEST_F(scans, refuse_what_is_no_json)
{
    for (const char* bad :
         {"",
          " ",
          "{",
          "{\"a\":1",
          "{\"a\":1}}",
          "{\"a\":1} x",
          "{\"a\":1,}",
          "{'a':1}",
          "{a:1}",
          "{\"a\":01}",
          "{\"a\":+1}",
          "{\"a\":.5}",
          "{\"a\":NaN}",
          "{\"a\":\"\t\"}",
          "{\"a\":\"\\x\"}",
          "{\"a\":\"\\ud800\"}",
          "{\"a\":\"\\udc00\"}",
          "{\"a\":\"\xff\"}",
          "{\"a\":\"\xc0\xaf\"}",
          "{\"a\":\"\xed\xa0\x80\"}",
          "\xef\xbb\xbf{\"a\":1}",
          "{\"a\":1}{\"a\":2}",
          "// c\n{}"}) {
        const std::string text{bad};
        EXPECT_FALSE(scan(paths, text).is_whole) << text;
        for (std::size_t piece = 1; piece < text.size(); ++piece) {
            EXPECT_FALSE(scan(paths, text, piece).is_whole) << text << " in pieces of " << piece;
        }
    }
}

TEST_F(scans, go_32_levels_deep)
{
    const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
    EXPECT_TRUE(scan(paths, nested(json_scanner::strict_depth)).is_whole);
    EXPECT_FALSE(scan(paths, nested(json_scanner::strict_depth + 1)).is_whole);
    EXPECT_FALSE(scan(paths, std::string(65536, '[')).is_whole);
}

TEST_F(scans, begin_anew)
{
    findings found;
    json_scanner scanner{paths, found};
    EXPECT_FALSE(scanner.read("{]"));
    scanner.reset();
    EXPECT_TRUE(scanner.read(R"({"a":1})"));
    EXPECT_TRUE(scanner.finish());
    scanner.reset();
    EXPECT_TRUE(scanner.read("["));
    EXPECT_FALSE(scanner.is_object());
    EXPECT_FALSE(scanner.finish());
    EXPECT_EQ(found.all, (std::vector<std::string>{"0 integer 1"}));
}

TEST_F(scans, read_elements_of_an_array_as_roots_by_lenient_rules)
{
    const auto lenient = json_scanner::rules::lenient;
    const std::string text = R"([{"a":1},{"a":2}])";
    EXPECT_EQ(
        scan(paths, text, 0, lenient).found,
        (std::vector<std::string>{"0 integer 1", "0 integer 2"})
    );
    EXPECT_TRUE(scan(paths, text).found.empty());
}

TEST_F(scans, pass_over_odd_text_by_lenient_rules)
{
    const std::string depth = std::string(250, '[') + std::string(250, ']');
    const auto with = [](const std::string& odd) { return R"({"x":)" + odd + R"(,"a":1})"; };
    for (const std::string& odd :
         {std::string{R"("\ud83d")"},
          std::string{R"("\uDE00\ud83d\ud83d")"},
          std::string{R"("\\ud83d\\\uDFFF")"},
          std::string{"\"\xff\xed\xa0\x80\""},
          depth}) {
        const std::string text = with(odd);
        for (std::size_t piece = 0; piece <= text.size(); ++piece) {
            const result found = scan(paths, text, piece, json_scanner::rules::lenient);
            EXPECT_EQ(found.found, std::vector<std::string>{"0 integer 1"}) << text << piece;
            EXPECT_TRUE(found.is_whole) << text << piece;
        }
        if (odd.find(R"(\\ud)") == std::string::npos) {
            EXPECT_FALSE(scan(paths, text).is_whole) << text;
        }
    }
    const std::string deeper = std::string(256, '[') + std::string(256, ']');
    EXPECT_FALSE(scan(paths, with(deeper), 0, json_scanner::rules::lenient).is_whole);
    EXPECT_FALSE(scan(paths, with("\"\x01\""), 0, json_scanner::rules::lenient).is_whole);
    const auto pair = scan(paths, R"({"a":"\ud83d\ude00"})", 0, json_scanner::rules::lenient);
    EXPECT_EQ(pair.found, std::vector<std::string>{"0 text \xee\xa0\xbd\xee\xb8\x80"});
}

// Random texts, against a parser that builds the whole.
class random_json {
public:
    explicit random_json(unsigned seed) : random_(seed) {}

    std::string value(int depth)
    {
        switch (random_() % (depth > 4 ? 6U : 8U)) {
            case 0:
                return "null";
            case 1:
                return random_() % 2 == 0 ? "true" : "false";
            case 2:
                return std::to_string(static_cast<int>(random_() % 2000) - 1000);
            case 3:
                return std::to_string(random_() % 100) + ".0e" + std::to_string(random_() % 3);
            case 4:
            case 5:
                return text();
            case 6:
                return list(depth);
            default:
                return object(depth);
        }
    }

    std::string object(int depth)
    {
        std::string all = "{";
        std::string names = "abcd0";
        std::shuffle(names.begin(), names.end(), random_);
        for (std::size_t i = 0; i < random_() % names.size(); ++i) {
            all += (i == 0 ? "" : ", ") + quoted(names[i]) + ": " + value(depth + 1);
        }
        return all + "}";
    }

private:
    std::mt19937 random_;

    std::string quoted(char name)
    {
        static constexpr std::string_view hex = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(name);
        return random_() % 3 != 0 ? std::string{'"', name, '"'}
                                  : std::string{"\"\\u00"} + hex[byte >> 4] + hex[byte & 15] + "\"";
    }

    std::string text() { return random_() % 2 == 0 ? R"("plain")" : R"("\u00e9\"\\ud")"; }

    std::string list(int depth)
    {
        std::string all = "[";
        for (unsigned i = 0; i < random_() % 3; ++i) {
            all += (i == 0 ? "" : ",") + value(depth + 1);
        }
        return all + "]";
    }
};

// Returns the finding for the path in a text that was parsed whole, or nothing if there is none.
std::string expected_at(const boost::json::value& root, const std::vector<std::string>& names)
{
    const boost::json::value* v = &root;
    for (const std::string& name : names) {
        if (const auto* const object = v->if_object()) {
            v = object->if_contains(name);
        } else if (const auto* const array = v->if_array()) {
            const std::size_t index = name == "0" ? 0 : array->size();
            v = index < array->size() ? &(*array)[index] : nullptr;
        } else {
            return {};
        }
        if (v == nullptr) {
            return {};
        }
    }
    if (const auto* const text = v->if_string()) {
        return "text " + std::string{text->data(), text->size()};
    }
    if (v->is_bool()) {
        return v->get_bool() ? "boolean true" : "boolean false";
    }
    if (v->is_null()) {
        return "null ";
    }
    if (v->is_number()) {
        return "integer " + std::to_string(v->to_number<std::int64_t>());
    }
    return "other ";
}

TEST(scans_of_random_texts, find_what_a_whole_parse_finds)
{
    const std::vector<std::string> names{"a", "b.a", "c.0", "c.0.d", "0", "a.b.c"};
    json_paths paths;
    for (const std::string& path : names) {
        paths.add(path);
    }
    std::size_t all_found = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        random_json random{seed};
        const std::string text = random.object(0);
        const boost::json::value parsed = boost::json::parse(text);
        const result got = scan(paths, text, seed % 7);
        EXPECT_TRUE(got.is_whole) << text;
        std::map<std::string, std::string> by_path;
        for (const std::string& f : got.found) {
            EXPECT_FALSE(f.starts_with("repeated")) << text;
            EXPECT_TRUE(by_path.emplace(f.substr(0, 1), f.substr(2)).second) << text;
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            EXPECT_EQ(by_path[std::to_string(i)], expected_at(parsed, *json_paths::parse(names[i])))
                << names[i] << " of " << text;
        }
        all_found += got.found.size();
    }
    EXPECT_GT(all_found, 1000U);
}

}  // namespace json_scanner_test
}  // namespace gateway::content
