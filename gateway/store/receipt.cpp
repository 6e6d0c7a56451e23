#include "gateway/store/receipt.hpp"

#include "gateway/base/hash.hpp"

namespace gateway::store {

std::string fresh_receipt()
{
    const base::hash_key random = base::random_hash_key();
    return base::sha256_hex128({reinterpret_cast<const char*>(random.data()), sizeof(random)});
}

}  // namespace gateway::store
