#include "gateway/store_upkeep.hpp"

#include <utility>

namespace gateway {

void store_upkeep::keep(const config::settings& settings)
{
    std::map<std::string, kept> present;
    for (const store::named_store& s : settings.shared_stores) {
        const auto known = kept_.find(s.name);
        if (known != kept_.end() && known->second.options == s.options) {
            present[s.name] = std::move(known->second);
        } else {
            present[s.name] = {s.options, store::start_housekeeping(executor_, s.name, s.options)};
        }
    }
    kept_ = std::move(present);
}

}  // namespace gateway
