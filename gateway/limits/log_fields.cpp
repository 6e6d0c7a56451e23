#include "gateway/limits/log_fields.hpp"

#include "gateway/http/part_value.hpp"

namespace gateway::limits {

namespace {

// Returns the beginning of a text, without half of a character in UTF-8 at its end.
std::string_view cut_to_bound(std::string_view text)
{
    if (text.size() <= max_log_field_bytes) {
        return text;
    }
    std::size_t end = max_log_field_bytes;
    while (end > max_log_field_bytes - 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80
    ) {
        --end;
    }
    return text.substr(0, end);
}

}  // namespace

void read_log_fields(
    std::span<const policy::log_field> fields,
    const intake::key_subject& subject,
    std::vector<telemetry::field_value>& out
)
{
    thread_local http::part_value value;  // It keeps its memory.
    for (const policy::log_field& f : fields) {
        if (f.part.from == policy::key_part::source::client_ip) {
            const int prefix = f.part.prefix;
            out.push_back(
                {f.name,
                 (prefix == 0 ? subject.client : intake::cut(subject.address, prefix)).to_string()}
            );
            continue;
        }
        intake::read_part(f.part, subject, value);
        if (value.present() && !value.ambiguous() && !value.text().empty()) {
            out.push_back({f.name, std::string{cut_to_bound(value.text())}});
        }
    }
}

}  // namespace gateway::limits
