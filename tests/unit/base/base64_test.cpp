#include "gateway/base/base64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gateway::base {
namespace base64_test {

std::string encoded(const std::string& bytes)
{
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t j = i; j < i + 3; ++j) {
            group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0);
        }
        for (std::size_t d = 0; d < 4; ++d) {
            text += i + d > bytes.size() ? '=' : digits[group >> (18 - 6 * d) & 63];
        }
    }
    return text;
}

std::string for_url(std::string text)
{
    for (char& c : text) {
        c = c == '+' ? '-' : c == '/' ? '_' : c;
    }
    return text.substr(0, text.find('='));
}

TEST(base64, has_one_canonical_spelling_of_any_bytes)
{
    std::mt19937 random{7};
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random() % 20, '\0');
        for (char& c : bytes) {
            c = static_cast<char>(random());
        }
        const std::string text = encoded(bytes);
        EXPECT_TRUE(is_canonical_base64(text)) << text;
        EXPECT_TRUE(is_canonical_base64url(for_url(text))) << for_url(text);
        EXPECT_EQ(decode_base64url(for_url(text)), bytes) << for_url(text);
        for (const std::string& other :
             {text + "=", text + " ", "!" + text, text + "AA", "=" + text}) {
            EXPECT_FALSE(is_canonical_base64(other)) << other;
        }
        for (const std::string& other : {for_url(text) + "=", for_url(text) + ".", "+" + text}) {
            EXPECT_FALSE(is_canonical_base64url(other)) << other;
            EXPECT_FALSE(decode_base64url(other).has_value()) << other;
        }
        std::string lenient = "x";
        append_as_canonical_base64url(" \n" + text + '"', lenient);
        EXPECT_EQ(lenient, "x" + for_url(text));
    }
}

TEST(base64, what_only_lenient_decoders_take_is_not_canonical)
{
    for (const char* text : {"", "dTpw", "dTo=", "dQ==", "+/+/"}) {
        EXPECT_TRUE(is_canonical_base64(text)) << text;
    }
    for (const char* text :
         {"dTo",
          "dQ",
          "dQ=",
          "d",
          "d===",
          "dTp=",
          "dR==",
          "-_-_",
          "dT w",
          "dT=w",
          "=",
          "====",
          "dTpw=",
          "dTpw====",
          "dTo=dTo="}) {
        EXPECT_FALSE(is_canonical_base64(text)) << text;
    }
    for (const char* text : {"", "dTpw", "dTo", "dQ", "-_-_"}) {
        EXPECT_TRUE(is_canonical_base64url(text)) << text;
    }
    const auto lenient = [](const char* text) {
        std::string out;
        append_as_canonical_base64url(text, out);
        return out;
    };
    EXPECT_EQ(lenient("dTp"), "dTo");
    EXPECT_EQ(lenient("d\"T/\xff_="), "dT__");
    EXPECT_EQ(lenient("d/="), "dw");
    EXPECT_EQ(lenient("dToKd"), "dToKd");
    EXPECT_EQ(lenient("=="), "");
    for (const char* text : {"dTo=", "d", "dTp", "dR", "+/+/", "d.Tp"}) {
        EXPECT_FALSE(is_canonical_base64url(text)) << text;
    }
}

}  // namespace base64_test
}  // namespace gateway::base
