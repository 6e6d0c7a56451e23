// The exact, unambiguous name of a bucket: a limit's name and the values of its key's parts,
// each preceded by its length, so two different tuples can never spell the same bytes.
// It may contain secrets: stores hash it (base/hash.hpp) before it goes anywhere.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <string>
#include <string_view>

namespace gateway::identity {

class bucket_name {
public:
    // Begins a new name in the memory of the last one.
    void start(std::string_view limit_name);

    void add(std::string_view part);
    void add(const base::ip_address& masked_client);

    std::string_view bytes() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace gateway::identity
