#include "gateway/probes/http2_check.hpp"

#include "gateway/base/text.hpp"

namespace gateway::probes {

http2_check::http2_check(
    std::string head,
    std::string_view scheme,
    std::size_t max_header_bytes,
    std::size_t max_body_bytes
)
    : max_body_bytes_(max_body_bytes),
      engine_(http2::engine::role::client, {}, max_header_bytes, *this, frames_)
{
    id_ = engine_.request(head, scheme, true, *this);
    engine_.send_frames();
}

bool http2_check::receive(std::span<const char> bytes)
{
    const bool is_well = engine_.receive(bytes) == http2::engine::failure::none;
    engine_.send_frames();
    return is_well;
}

// The last status counts: those before it are of interim responses.
void http2_check::field(std::string_view name, std::string_view value)
{
    if (name == ":status") {
        status_ = static_cast<int>(base::parse_decimal(value, 999).value_or(0));
    }
}

void http2_check::content(std::string_view bytes)
{
    body_bytes_ += bytes.size();
    is_done_ = is_done_ || body_bytes_ > max_body_bytes_;
    engine_.consume(id_, bytes.size());
}

}  // namespace gateway::probes
