// `describe_pem` and `load_named_file` are for keys that name a PEM file, or another one whose text
// is kept with its name.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/certificates.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

enum class presence { optional, required };

// Describes a key that names a PEM file. Its text is read with the configuration, and its path is
// taken from the configuration's folder.
void describe_pem(
    keys& k,
    const key& what,
    net::pem_file& file,
    const draft& d,
    presence must = presence::optional
);

// Reads the file that the key names, from the configuration's folder, if the key is there. The file
// has at most `max` bytes.
void load_named_file(
    section& from, std::string_view key, std::size_t max, net::pem_file& file, const draft& d
);

// `outdated` says if certificates of a file are not valid now.
struct outdated {
    // Complaint about the first of them: it has expired, or is not valid yet. Empty: there is none.
    std::string complaint{};
    bool all = false;
};

outdated outdated_in(const net::pem_file& file);

// Returns the path as YAML, or nothing if no file is named.
std::optional<std::string> printed_path(const std::string& path);

}  // namespace gateway::config
