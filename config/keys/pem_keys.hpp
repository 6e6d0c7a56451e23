// The functions here are for keys that name a PEM file, or another one whose text is kept with its
// name.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/certificates.hpp"

#include <string>

namespace gateway::config {

// Describes a key that names a file of at most `max` bytes. Its text is read with the
// configuration, and its path is taken from the configuration's folder.
void describe_file(
    const described_key& k, net::pem_file& file, stated documented, std::size_t max, const draft& d
);

// Describes a key that names a PEM file.
void describe_pem(const described_key& k, net::pem_file& file, const draft& d);

// `outdated` tells which certificates of a file are not valid now.
struct outdated {
    // A clause about the first of them, or empty.
    std::string complaint{};
    // True if no certificate of the file is valid.
    bool all = false;
};

outdated outdated_in(const net::pem_file& file);

}  // namespace gateway::config
