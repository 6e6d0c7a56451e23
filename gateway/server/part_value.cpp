#include "gateway/server/part_value.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::server {

namespace {

// What is no percent-encoding stays as it is, as decoders do.
std::string_view decoded(std::string_view text, std::string& storage)
{
    if (text.find_first_of("%+") == std::string_view::npos) {
        return text;
    }
    storage.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const int byte = base::percent_encoded(text.substr(i)); byte >= 0) {
            storage += static_cast<char>(byte);
            i += 2;
        } else {
            storage += text[i] == '+' ? ' ' : text[i];
        }
    }
    return storage;
}

// credentials = auth-scheme [ 1*SP ( token68 / parameters ) ]
std::string_view one_spelling_of_credentials(std::string_view credentials, std::string& storage)
{
    const std::size_t scheme = std::min(credentials.find(' '), credentials.size());
    storage.assign(credentials);
    std::transform(
        storage.begin(),
        storage.begin() + static_cast<std::ptrdiff_t>(scheme),
        storage.begin(),
        base::to_lower
    );
    const std::size_t rest = std::min(storage.find_first_not_of(' ', scheme), storage.size());
    if (rest > scheme) {
        storage.replace(scheme, rest - scheme, " ");
    }
    return storage;
}

std::string_view unquoted(std::string_view text)
{
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

// Calls `pair` with each name and value of a list.
template <typename Pair>
void for_each_pair(std::string_view list, char separator, Pair pair)
{
    base::for_each_element(list, separator, [&pair](std::string_view one) {
        const std::size_t equals = one.find('=');
        if (equals != std::string_view::npos) {
            pair(one.substr(0, equals), one.substr(equals + 1));
        }
    });
}

}  // namespace

void part_value::clear()
{
    text_.clear();
    present_ = false;
    ambiguous_ = false;
}

void part_value::add(std::string_view occurrence)
{
    if (occurrence.empty()) {
        return;
    }
    ambiguous_ = ambiguous_ || (present_ && occurrence != text_);
    set(occurrence);
}

void read_header(const http::request_head& head, std::string_view name, part_value& out)
{
    const bool credentials = base::equal_ignoring_case(name, "authorization");
    std::string storage;
    for (const http::field& f : head.fields) {
        if (!http::reads_as(f.name, name)) {
            continue;
        }
        if (!base::equal_ignoring_case(f.name, name) || head.connection.nominates(name)) {
            out.make_ambiguous();
        } else {
            out.add(credentials ? one_spelling_of_credentials(f.value, storage) : f.value);
        }
    }
}

void read_cookie(const http::request_head& head, std::string_view name, part_value& out)
{
    const bool removed = head.connection.nominates("cookie");
    std::string storage;
    for (const http::field& f : head.fields) {
        if (f.id != http::field_name::cookie) {
            continue;
        }
        for_each_pair(f.value, ';', [&](std::string_view n, std::string_view value) {
            if (base::trimmed(n) == name) {
                removed ? out.make_ambiguous()
                        : out.add(decoded(unquoted(base::trimmed(value)), storage));
            }
        });
    }
}

void read_query(std::string_view query, std::string_view name, part_value& out)
{
    if (query.starts_with('?')) {
        query.remove_prefix(1);
    }
    std::string storage;
    for_each_pair(query, '&', [&](std::string_view n, std::string_view value) {
        if (decoded(n, storage) == name) {
            out.add(decoded(value, storage));
        }
    });
}

}  // namespace gateway::server
