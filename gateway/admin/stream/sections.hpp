// `sections` holds what the stream shows of the present state, as JSON: each section apart, for
// viewers with the token and without, with the second in which it has changed last. A viewer is
// sent a section when it has changed. Pure.
#pragma once

#include <boost/json/object.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gateway::admin {

// `with_token` viewers see names of clients, and `anybody` only hashes of buckets.
enum class audience : std::uint8_t { anybody, with_token };

class sections {
public:
    // Sets a section as it is in the second of this number.
    void set(
        std::string_view name,
        audience for_whom,
        const boost::json::value& now,
        std::uint64_t number
    );

    // Appends the sections that have changed after the second `seen`, as one more member of an
    // object: `,"state":{"name":value,...}`.
    void append_changed(std::string& to, audience for_whom, std::uint64_t seen) const;

private:
    struct section {
        std::string text{};
        std::uint64_t changed = 0;
    };

    std::array<std::map<std::string, section, std::less<>>, 2> all_{};
};

}  // namespace gateway::admin
