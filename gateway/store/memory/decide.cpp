#include "gateway/store/memory/decide.hpp"

namespace gateway::store {

limit::decision untouched(const limit::terms& t, const limit::bucket& b, limit::moment at)
{
    return limit::decision_in<base::duration>(limit::look(t, b, at));
}

}  // namespace gateway::store
