// `owned` holds an object of a C library, and frees it with the library's function.
#pragma once

#include <memory>

namespace gateway::net {

template <class Object, auto Free>
struct owned_by {
    void operator()(Object* o) const { Free(o); }
};

template <class Object, auto Free>
using owned = std::unique_ptr<Object, owned_by<Object, Free>>;

}  // namespace gateway::net
