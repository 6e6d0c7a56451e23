// `long_bodies` are the words of `on_long_body`, which `http` and routes have.
#pragma once

#include "config/keys/forms.hpp"

namespace gateway::config {

// True: the request is refused.
inline constexpr words<bool, 2> long_bodies{{{"missing", false}, {"413", true}}};

}  // namespace gateway::config
