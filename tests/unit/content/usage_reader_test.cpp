#include "gateway/content/usage_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::content {
namespace usage_reader_test {

class usages : public ::testing::Test {
protected:
    json_paths paths = [] {
        json_paths all;
        all.add("usage.in");
        all.add("usage.out");
        all.add("message.usage.in");
        return all;
    }();

    std::string read(content_form form, const std::string& text, std::size_t piece)
    {
        usage_reader reader{paths, form};
        for (std::size_t at = 0; at < text.size(); at += piece) {
            reader.read(std::string_view{text}.substr(at, piece));
        }
        std::string all;
        for (std::size_t path = 0; path < paths.count(); ++path) {
            const auto last = reader.last(path);
            all += (all.empty() ? "" : " ") + (last ? std::to_string(*last) : "-");
        }
        return all;
    }

    void expect(content_form form, const std::string& text, const std::string& expected)
    {
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            EXPECT_EQ(read(form, text, piece), expected) << text << " in pieces of " << piece;
        }
    }
};

TEST_F(usages, of_one_text_are_its_numbers)
{
    expect(content_form::json, R"({"usage":{"in":3,"out":4}})", "3 4 -");
    expect(content_form::json, R"({"usage":{"in":3,"in":5}})", "5 - -");
    expect(content_form::json, R"([{"usage":{"in":3}},{"usage":{"in":7}}])", "7 - -");
    expect(content_form::json, R"({"usage":{"in":"3","out":1.5}})", "- - -");
    expect(content_form::json, R"({"usage":{"in":-3,"out":null}})", "- - -");
    expect(content_form::json, R"({"usage":null})", "- - -");
    expect(content_form::json, R"({"usage":{"in":3,"out":12)", "3 - -");
    expect(content_form::json, R"({"usage":{"in":3} oh)", "3 - -");
}

TEST_F(usages, of_texts_with_odd_strings_are_read)
{
    expect(content_form::json, R"({"text":"\ud83d","usage":{"in":3}})", "3 - -");
    expect(content_form::json, "{\"text\":\"\xff\",\"usage\":{\"in\":3}}", "3 - -");
    const std::string deep = std::string(40, '[') + std::string(40, ']');
    expect(content_form::json, R"({"tools":)" + deep + R"(,"usage":{"in":3}})", "3 - -");
}

TEST_F(usages, of_lines_are_the_last_ones)
{
    const std::string lines =
        "{\"usage\":{\"in\":3}}\n\n{\"usage\":{\"out\":2}}\r\n{\"usage\":{\"in\":9}}";
    expect(content_form::lines, lines, "9 2 -");
    expect(content_form::lines, "oh\n{\"usage\":{\"in\":3}}\n{", "3 - -");
}

TEST_F(usages, of_events_are_the_last_ones)
{
    for (const std::string end : {"\n", "\r", "\r\n"}) {
        const std::string stream = ": hello" + end + "event: message_start" + end +
                                   "data: {\"message\":{\"usage\":{\"in\":25}}}" + end + end +
                                   "id: 7" + end + "data:{\"usage\":{\"out\":1}}" + end + end +
                                   "data: {\"usage\":" + end + "data: {\"out\":15}}" + end + end +
                                   "database: {\"usage\":{\"out\":99}}" + end + end + "data" + end +
                                   end + "data: [DONE]" + end + end;
        expect(content_form::events, stream, "- 15 25");
        expect(content_form::events, "\xef\xbb\xbf" + stream, "- 15 25");
    }
    expect(content_form::events, "data: {\"usage\":{\"in\":3}}", "3 - -");
    expect(
        content_form::events,
        "data: {\"usage\":{\"in\":3}}\ndata: {\"usage\":{\"in\":4}}\n\n",
        "3 - -"
    );
    expect(content_form::events, " data: {\"usage\":{\"in\":3}}\n\n", "- - -");
    expect(content_form::events, "data:  {\"usage\":{\"in\":3}}\n\n", "3 - -");
}

TEST_F(usages, of_events_without_the_names_are_passed_over)
{
    expect(
        content_form::events,
        "data: {}\n\ndata: {\"usage\":{\"in\":3}}\n\ndata: {\"text\":\"\\n\"}\n\ndata:\n\ndata: "
        "{\n\n",
        "3 - -"
    );
    expect(content_form::events, "\n\ndata: {\"\\u0075sage\":{\"in\":3}}\n\n", "3 - -");
    expect(content_form::lines, "{}\n{\"us\\u0061ge\":{\"out\":3}}\n{\"in\":1}\n", "- 3 -");
    // The event goes on behind a line that looks whole.
    expect(content_form::events, "\ndata: {\"a\":\ndata: {\"usage\":{\"in\":3}}}\n\n", "- - -");
    expect(content_form::events, "\ndata: {\"usage\":\rdata: {\"in\":3}}\n\n", "3 - -");
}

TEST_F(usages, come_in_an_order)
{
    usage_reader reader{paths, content_form::events};
    reader.read("data: {\"message\":{\"usage\":{\"in\":25}}}\n\n");
    EXPECT_GT(reader.when(2), reader.when(0));
    reader.read("data: {\"usage\":{\"in\":26}}\n\n");
    EXPECT_GT(reader.when(0), reader.when(2));
}

}  // namespace usage_reader_test
}  // namespace gateway::content
