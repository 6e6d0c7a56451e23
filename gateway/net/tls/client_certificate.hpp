// Reads the contents of a client's certificate that has been verified.
#pragma once

#include "gateway/base/client_certificate.hpp"

#include <openssl/types.h>

#include <optional>

namespace gateway::net {

// Returns the client's certificate; nothing if it has shown none or was not verified. The two
// fields, which are as long as all its certificates, are filled only if `with_fields`.
std::optional<base::client_certificate> client_certificate_of(SSL* ssl, bool with_fields);

}  // namespace gateway::net
