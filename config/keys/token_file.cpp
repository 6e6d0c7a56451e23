#include "config/keys/token_file.hpp"

#include "config/text/problem.hpp"
#include "config/text/text_file.hpp"
#include "gateway/base/chars.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr auto token_bytes = base::alphanumeric_and("-._~+/=");

bool is_of_token(char c)
{
    return token_bytes[static_cast<unsigned char>(c)];
}

// Reads a secret of at most `max` bytes.
parsed<std::string> read_secret(const std::string& path, std::size_t max)
{
    const text_file file = read_text_file(path, max + 2);
    if (!file.complaint.empty()) {
        return {{}, quote(path) + ' ' + file.complaint};
    }
    std::string secret = without_line_end(file.text);
    if (secret.size() > max) {
        return {{}, "what is in it is longer than " + std::to_string(max) + " bytes"};
    }
    return {std::move(secret), {}};
}

}  // namespace

parsed<std::string> read_token(const std::string& path)
{
    parsed<std::string> read = read_secret(path, max_token_bytes);
    if (!read.value) {
        return read;
    }
    const std::string& token = *read.value;
    if (token.empty()) {
        return {{}, "the file is empty: put a token into it, as \"openssl rand -hex 32\" makes it"};
    }
    if (!std::all_of(token.begin(), token.end(), is_of_token)) {
        return {{}, "expected one line of letters, digits and -._~+/= in the file"};
    }
    return read;
}

parsed<std::string> read_password(const std::string& path)
{
    parsed<std::string> read = read_secret(path, max_password_bytes);
    if (read.value && read.value->empty()) {
        return {{}, "the file is empty: put the password into it"};
    }
    if (read.value && read.value->find('\n') != std::string::npos) {
        return {{}, "expected one line in the file, the password, and there are more"};
    }
    return read;
}

}  // namespace gateway::config
