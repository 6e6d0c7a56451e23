#include "gateway/net/outbox.hpp"

namespace gateway::net {

bool outbox::take(sender& from, std::string_view a, std::string_view b)
{
    const std::size_t size = a.size() + b.size();
    if (!open_ || size > max_send_bytes) {
        return false;
    }
    if (pieces_.size() == max_sends || bytes_.size() + size > max_bytes) {
        flush();
    }
    bytes_.append(a).append(b);
    if (!pieces_.empty() && pieces_.back().from == &from) {
        pieces_.back().size += size;
    } else {
        pieces_.push_back({&from, size});
    }
    return true;
}

void outbox::close()
{
    flush();
    open_ = false;
}

void outbox::flush()
{
    std::string_view rest = bytes_;
    for (const piece& p : pieces_) {
        p.from->send_gathered(rest.substr(0, p.size));
        rest.remove_prefix(p.size);
    }
    pieces_.clear();
    bytes_.clear();
}

}  // namespace gateway::net
