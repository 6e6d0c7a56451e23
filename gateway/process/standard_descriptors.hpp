// `open_standard_descriptors` ensures that the descriptors 0, 1 and 2 are open.
// Requires: nothing else was opened before.
#pragma once

namespace gateway {

// Opens /dev/null on each of them that is closed. Otherwise a socket would get its number, and log
// lines would go to its peer.
// Errors: std::system_error.
void open_standard_descriptors();

}  // namespace gateway
