// `session_memory()` is how nghttp2 allocates for its sessions. Each has a buffer for the largest
// frame that it may send, 16 KiB, of which most responses need a page: their content never passes
// through it. The pages of such a buffer are given back to the system before it is used, as memory
// that a TLS handshake has used just before is resident as a whole. An idle connection with TLS
// costs 30 KiB instead of 41.
#pragma once

#include <nghttp2/nghttp2.h>

namespace gateway::http2 {

// Thread: any. Ownership: static.
nghttp2_mem* session_memory();

}  // namespace gateway::http2
