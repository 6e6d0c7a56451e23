// The certificates that the system believes: where OpenSSL looks for them unless it is told
// (SSL_CERT_FILE, SSL_CERT_DIR).
#pragma once

#include <string>

namespace gateway::net {

// Another text as soon as the file or a folder of them has been changed. Asks the file system.
std::string edition_of_system_authorities();

}  // namespace gateway::net
