// Trailer sections (RFC 9110 §6.5): which of their fields may pass, and how they are announced. A
// section is a text of whole field lines, without the empty line that ends it.
#pragma once

#include "gateway/http/field.hpp"
#include "gateway/http/field_parser.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

// Number of trailers that are parsed at a time, which bounds the memory for that.
inline constexpr std::size_t trailers_at_once = 32;

// True if a trailer with this name may pass. None may that a recipient could take for a field of
// the head which has to do with framing, routing, the client's identity, credentials, conditions,
// caching, the form of the content, or limits (RFC 9110 §6.5.1). Other marks for '-' do not
// disguise a name.
// Requires: `name` is a token.
bool is_forwardable_trailer(std::string_view name);

// Calls `each` with each field of a section, up to the first malformed line.
template <typename Each>
void for_each_trailer(std::string_view section, Each each)
{
    field_list batch;
    while (!section.empty()) {
        batch.clear();
        std::size_t ignored = 0;
        read_fields(section, ignored, trailers_at_once, batch);
        if (batch.empty()) {
            return;
        }
        for (const field& f : batch) {
            each(f);
            section.remove_prefix(f.line.size());
        }
    }
}

// Appends a trailer as "name: value\r\n".
void append_trailer(const field& trailer, std::string& out);

// Appends the trailers that may pass and whose names are not `withheld`.
template <typename Withheld>
void append_forwardable_trailers(std::string_view section, Withheld withheld, std::string& out)
{
    for_each_trailer(section, [&](const field& f) {
        if (is_forwardable_trailer(f.name) && !withheld(f.name)) {
            append_trailer(f, out);
        }
    });
}

// Appends the trailers that may pass, each as "name: value\r\n".
void append_forwardable_trailers(std::string_view section, std::string& out);

// Appends a Trailer field with those names in the Trailer fields of a head that may pass. Appends
// nothing if there are none.
void append_announced_trailers(std::span<const field> fields, std::string& out);

}  // namespace gateway::http
