#include "gateway/envoy/rate_limit_request.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

namespace gateway::envoy {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::string_view malformed = "the message is not well-formed protobuf";
constexpr std::string_view wrong_type = "a field of the message has another type";

constexpr std::uint32_t text(std::uint32_t field)
{
    return tag_and_type(field, pbf_wire_type::length_delimited);
}

constexpr std::uint32_t number(std::uint32_t field)
{
    return tag_and_type(field, pbf_wire_type::varint);
}

// Moves to the next field, if there is one. The library cuts a length to 32 bits, so that one past
// the end could be read as a shorter one.
bool next(pbf_reader& from)
{
    if (!from.next()) {
        return false;
    }
    if (from.wire_type() == pbf_wire_type::length_delimited) {
        const protozero::data_view rest = from.data();
        const char* at = rest.data();
        if (protozero::decode_varint(&at, rest.data() + rest.size()) > rest.size()) {
            throw protozero::end_of_buffer_exception{};
        }
    }
    return true;
}

std::string_view view_of(pbf_reader& from)
{
    const protozero::data_view bytes = from.get_view();
    return {bytes.data(), bytes.size()};
}

pbf_reader inner(pbf_reader& from)
{
    return pbf_reader{from.get_view()};
}

// Passes over a field that is not known. One of the `known` first numbers has another type here
// than it should.
std::string_view pass_over(pbf_reader& from, std::uint32_t known)
{
    if (from.tag() <= known) {
        return wrong_type;
    }
    from.skip();
    return {};
}

time_unit unit_of(std::int32_t number)
{
    const bool known = number >= 0 && number <= static_cast<std::int32_t>(time_unit::week);
    return known ? static_cast<time_unit>(number) : time_unit::unknown;
}

std::string_view decode_entry(pbf_reader from, descriptor_entry& out)
{
    std::string_view refused;
    while (refused.empty() && next(from)) {
        switch (from.tag_and_type()) {
            case text(1):
                out.key = view_of(from);
                break;
            case text(2):
                out.value = view_of(from);
                break;
            default:
                refused = pass_over(from, 2);
        }
    }
    if (!refused.empty()) {
        return refused;
    }
    if (out.key.empty()) {
        return "an entry of a descriptor has no key";
    }
    if (out.key.size() > max_key_bytes) {
        return "the key of an entry is longer than 256 bytes";
    }
    return out.value.size() > max_value_bytes ? "the value of an entry is longer than 64 KiB"
                                              : std::string_view{};
}

std::string_view decode_override(pbf_reader from, rate_override& out)
{
    std::string_view refused;
    while (refused.empty() && next(from)) {
        switch (from.tag_and_type()) {
            case number(1):
                out.requests_per_unit = from.get_uint32();
                break;
            case number(2):
                out.unit = unit_of(from.get_enum());
                break;
            default:
                refused = pass_over(from, 2);
        }
    }
    return refused;
}

// Decodes a google.protobuf.UInt64Value, in which 0 is not written.
std::string_view decode_wrapped_number(pbf_reader from, std::uint64_t& out)
{
    std::string_view refused;
    while (refused.empty() && next(from)) {
        if (from.tag_and_type() == number(1)) {
            out = from.get_uint64();
        } else {
            refused = pass_over(from, 1);
        }
    }
    return refused;
}

template <typename Value>
Value& there(std::optional<Value>& value)
{
    return value ? *value : value.emplace();
}

std::string_view add_entry(pbf_reader from, descriptor& d, rate_limit_request& out)
{
    if (d.entry_count == max_entries) {
        return "a descriptor has more than 32 entries";
    }
    ++d.entry_count;
    return decode_entry(from, out.entries.emplace_back());
}

std::string_view decode_descriptor(pbf_reader from, rate_limit_request& out)
{
    if (out.descriptors.size() == max_descriptors) {
        return "the message has more than 64 descriptors";
    }
    descriptor& d = out.descriptors.emplace_back();
    d.first_entry = out.entries.size();
    std::string_view refused;
    while (refused.empty() && next(from)) {
        switch (from.tag_and_type()) {
            case text(1):
                refused = add_entry(inner(from), d, out);
                break;
            case text(2):
                refused = decode_override(inner(from), there(d.limit));
                break;
            case text(3):
                refused = decode_wrapped_number(inner(from), there(d.hits));
                break;
            case number(4):
                d.refunds = from.get_bool();
                break;
            default:
                refused = pass_over(from, 4);
        }
    }
    return refused.empty() && d.entry_count == 0 ? "a descriptor has no entries" : refused;
}

std::string_view decode_all(pbf_reader from, rate_limit_request& out)
{
    std::string_view refused;
    while (refused.empty() && next(from)) {
        switch (from.tag_and_type()) {
            case text(1):
                out.domain = view_of(from);
                break;
            case text(2):
                refused = decode_descriptor(inner(from), out);
                break;
            case number(3):
                out.hits_addend = from.get_uint32();
                break;
            default:
                refused = pass_over(from, 3);
        }
    }
    return refused;
}

}  // namespace

std::string_view decode(std::string_view message, rate_limit_request& out)
{
    out.clear();
    if (message.size() > max_request_bytes) {
        return "the message is longer than 256 KiB";
    }
    try {
        return decode_all(pbf_reader{message.data(), message.size()}, out);
    } catch (const protozero::exception&) {  // the library reports in no other way
        return malformed;
    }
}

}  // namespace gateway::envoy
