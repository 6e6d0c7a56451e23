#include "config/token_file.hpp"

#include "config/problem.hpp"
#include "config/text_file.hpp"
#include "gateway/base/chars.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr auto token_bytes = base::alphanumeric_and("-._~+/=");

bool is_of_token(char c)
{
    return token_bytes[static_cast<unsigned char>(c)];
}

std::string without_line_end(std::string text)
{
    for (const char end : {'\n', '\r'}) {
        if (text.ends_with(end)) {
            text.pop_back();
        }
    }
    return text;
}

}  // namespace

parsed<std::string> read_token(const std::string& path)
{
    const text_file file = read_text_file(path, max_token_bytes + 2);
    if (!file.complaint.empty()) {
        return {{}, quoted(path) + ' ' + file.complaint};
    }
    std::string token = without_line_end(file.text);
    if (token.empty()) {
        return {{}, "the file is empty: put a token into it, as \"openssl rand -hex 32\" makes it"};
    }
    if (token.size() > max_token_bytes) {
        return {{}, "the token in it is longer than 1024 bytes"};
    }
    if (!std::all_of(token.begin(), token.end(), is_of_token)) {
        return {{}, "expected one line of letters, digits and -._~+/= in the file"};
    }
    return {std::move(token), {}};
}

}  // namespace gateway::config
