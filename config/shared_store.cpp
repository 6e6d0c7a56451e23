#include "config/shared_store.hpp"

namespace gateway::config {

std::string complaint_about_stores(
    const draft& d,
    const std::vector<std::size_t>& limits,
    std::string_view whose,
    std::size_t& shared
)
{
    for (const std::size_t index : limits) {
        const std::size_t store = d.policy.limits[index].store;
        if (store == policy::local_store || store == shared) {
            continue;
        }
        if (shared != policy::local_store) {
            return "limits of two shared stores, " + quote(d.policy.stores[shared]) + " and " +
                   quote(d.policy.stores[store]) + ": the limits of one " + std::string{whose} +
                   " must share one, to be decided atomically";
        }
        shared = store;
    }
    return {};
}

}  // namespace gateway::config
