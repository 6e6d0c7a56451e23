#include "gateway/intake/request_key.hpp"

#include "gateway/policy/paths/path.hpp"

#include <algorithm>

namespace gateway::intake {

namespace {

using source = policy::key_part::source;

void read_claim(const request_token& token, std::string_view name, http::part_value& out)
{
    if (token.ambiguous) {
        out.make_ambiguous();
    } else if (token.verified != nullptr) {
        out.add(token.verified->claim(name).value_or(std::string_view{}));
    }
}

// Returns the part's text, with '?' for characters that JSON would escape. Names of query
// parameters and claims may have them.
std::string plain_text_of(const policy::key_part& part)
{
    std::string text = part.text;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '"' || c == '\\'; }, '?'
    );
    return text;
}

std::string_view where_it_would_be(const policy::key_part& part)
{
    switch (part.from) {
        case source::jwt:
            return ": the request has no valid token with that claim";
        case source::cert:
            return ": the client has shown no certificate with it";
        case source::json:
            return ": the request has no JSON content with that member";
        default:
            return {};
    }
}

// Returns what the value of one part means for the whole key. `made`: the key gets the value, or
// the client's address instead of a value that is missing.
key_result result_by(const policy::limit_rule& rule, const http::part_value& value)
{
    if (value.ambiguous()) {
        return key_result::reject;
    }
    if (value.present() || rule.when_missing == policy::missing_key::client_ip) {
        return key_result::made;
    }
    return rule.when_missing == policy::missing_key::skip ? key_result::skip : key_result::reject;
}

// Reads the value of an entry, as it is. An empty one is a value like any other.
void read_entry(
    std::span<const envoy::descriptor_entry> entries, std::string_view key, http::part_value& out
)
{
    for (const envoy::descriptor_entry& e : entries) {
        if (e.key == key && out.present() && e.value != out.text()) {
            out.make_ambiguous();
        } else if (e.key == key) {
            out.set(e.value);
        }
    }
}

// Reads a property of the certificate. A certificate without alternative names lacks that one.
void read_certificate(
    const base::client_certificate* shown, std::string_view name, http::part_value& out
)
{
    if (shown == nullptr) {
        return;
    }
    const std::string& value = name == "fingerprint" ? shown->fingerprint
                               : name == "subject"   ? shown->subject
                                                     : shown->alternative_names;
    if (!value.empty()) {
        out.set(value);
    }
}

}  // namespace

void read_part(const policy::key_part& part, const key_subject& subject, http::part_value& out)
{
    out.clear();
    switch (part.from) {
        case source::header:
            if (subject.peer_trusted || !part.from_trusted_peers) {
                http::read_header(*subject.head, part.name, out);
            }
            break;
        case source::cookie:
            http::read_cookie(*subject.head, part.name, out);
            break;
        case source::query:
            http::read_query(subject.head->query, part.name, out);
            break;
        case source::jwt:
            read_claim(subject.token, part.name, out);
            break;
        case source::cert:
            read_certificate(subject.certificate, part.name, out);
            break;
        case source::method:
            out.add(subject.head->method);
            break;
        case source::host:
            out.set(subject.host);  // It is empty in HTTP/1.0 without Host.
            break;
        case source::path:
            out.add(policy::without_final_slash(subject.path));
            break;
        case source::route:
            out.add(subject.route);
            break;
        case source::json:
            if (const auto value = subject.content.value(part.path)) {
                out.set(*value);  // An empty string is a value like any other.
            }
            break;
        case source::descriptor:
            read_entry(subject.entries, part.name, out);
            break;
        case source::client_ip:
            break;
    }
}

base::ip_address cut(const base::ip_address& client, int prefix)
{
    return client.masked(std::min(prefix, 32), prefix);
}

named_key make_bucket_name(
    const policy::limit_rule& rule, const key_subject& subject, identity::bucket_name& out
)
{
    thread_local http::part_value value;  // It keeps its memory.
    out.start(rule.name);
    for (const policy::key_part& part : rule.key) {
        if (part.from == source::client_ip) {
            out.add(part.prefix == 0 ? subject.client : cut(subject.address, part.prefix));
            continue;
        }
        read_part(part, subject, value);
        const key_result is = result_by(rule, value);
        if (is != key_result::made) {
            return {is, {.part = &part, .ambiguous = value.ambiguous()}};
        }
        if (value.present()) {
            out.add(value.text());
        } else {
            out.add(subject.client);  // It never equals a text, see bucket_name.
        }
    }
    return {};
}

std::string described(const key_fault& fault)
{
    const std::string name = plain_text_of(*fault.part) + ", which identifies the client, ";
    return fault.ambiguous
               ? name + "has two values, or is spelled in a way that servers read differently"
               : name + "is missing" + std::string{where_it_would_be(*fault.part)};
}

}  // namespace gateway::intake
