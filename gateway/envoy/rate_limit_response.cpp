#include "gateway/envoy/rate_limit_response.hpp"

#include <protozero/pbf_writer.hpp>

namespace gateway::envoy {

namespace {

using protozero::pbf_writer;

template <typename Enum>
std::int32_t number_of(Enum value)
{
    return static_cast<std::int32_t>(value);
}

void add_text(pbf_writer& to, std::uint32_t field, std::string_view text)
{
    to.add_string(field, text.data(), text.size());
}

void add_limit(pbf_writer& status, const current_limit& l)
{
    pbf_writer to{status, 2};
    to.add_uint32(1, l.requests_per_unit);
    to.add_enum(2, number_of(l.unit));
    add_text(to, 3, l.name);
}

// A field that is 0 is left out, as proto3 has it.
void add_status(pbf_writer& response, const descriptor_status& s)
{
    pbf_writer to{response, 2};
    to.add_enum(1, number_of(s.code));
    if (s.limit) {
        add_limit(to, *s.limit);
    }
    if (s.remaining > 0) {
        to.add_uint32(3, s.remaining);
    }
    if (s.reset_seconds > 0) {
        pbf_writer duration{to, 4};
        duration.add_int64(1, s.reset_seconds);
    }
}

}  // namespace

void append(const rate_limit_response& response, std::string& to)
{
    pbf_writer all{to};
    all.add_enum(1, number_of(response.overall));
    for (const descriptor_status& s : response.statuses) {
        add_status(all, s);
    }
    for (const response_header& h : response.headers) {
        pbf_writer header{all, 3};
        add_text(header, 1, h.name);
        add_text(header, 2, h.value);
    }
}

}  // namespace gateway::envoy
