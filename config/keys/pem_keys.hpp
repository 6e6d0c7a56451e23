// Keys that name PEM files, and others of which the text is kept with the name.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/certificates.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

enum class presence { optional, required };

// The file's text is read with the configuration, from the folder of that.
void describe_pem(
    keys& k,
    const key& what,
    net::pem_file& file,
    const draft& d,
    presence must = presence::optional
);

// Reads the file that the key names, from the folder of the configuration, if the key is there. At
// most `max` bytes.
void load_named_file(
    section& from, std::string_view key, std::size_t max, net::pem_file& file, const draft& d
);

// Which certificates of a file do not hold now.
struct outdated {
    // About the first of them: it has expired, or is not valid yet. Empty: there is none.
    std::string complaint{};
    bool all = false;
};

outdated outdated_in(const net::pem_file& file);

// As YAML; nothing: no file is named.
std::optional<std::string> printed_path(const std::string& path);

}  // namespace gateway::config
