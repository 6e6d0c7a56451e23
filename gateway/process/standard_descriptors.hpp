// The descriptors 0, 1 and 2, which have to be open before anything else is opened.
#pragma once

namespace gateway {

// Opens /dev/null on each of them that is closed. A socket would get its number otherwise, and log
// lines would be written to whoever is connected to it. Throws std::system_error.
void open_standard_descriptors();

}  // namespace gateway
