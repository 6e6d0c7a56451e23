// Detects changes of the certificates that the system trusts, in OpenSSL's default places or those
// that SSL_CERT_FILE and SSL_CERT_DIR name.
#pragma once

#include <string>

namespace gateway::net {

// Returns a text that differs once the file or a folder of certificates has changed. Asks the file
// system.
std::string edition_of_system_authorities();

}  // namespace gateway::net
