// `reading` reads a mapping of the file into the values that are described.
#pragma once

#include "config/keys/keys.hpp"

namespace gateway::config {

class reading final : public keys {
public:
    // Reads a mapping in which every key is described.
    static void all(
        const located& mapping,
        findings& found,
        const std::function<void(keys&)>& describe,
        const std::function<void(section&)>& then = {}
    );

    void flag(const key& k, bool& value) override;
    void time(const key& k, base::duration& value, base::duration min, base::duration max) override;
    void other(const key& k, const form& f) override;
    void mapping(const key& k, const std::function<void(keys&)>& describe, bool is_set) override;
    void each(const key& k, const collection& c) override;

    void rule(const std::function<void(section&)>& holds) override { holds(from_); }

private:
    section& from_;
    findings& found_;

    reading(section& from, findings& found) : from_(from), found_(found) {}

    std::uint64_t whole(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::uint64_t bytes(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::size_t choice(const key& k, std::size_t value, std::span<const std::string_view> names)
        override;
};

}  // namespace gateway::config
