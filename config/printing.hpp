// Prints described settings as YAML.
#pragma once

#include "config/keys.hpp"

#include <string>

namespace gateway::config {

class printing final : public keys {
public:
    // Appends lines to `out`, indented to `depth`.
    printing(std::string& out, std::size_t depth) : out_(out), depth_(depth) {}

    void flag(const key& k, bool& value) override;
    void time(const key& k, base::duration& value, base::duration min, base::duration max) override;
    void other(const key& k, const form& f) override;
    void mapping(const key& k, const std::function<void(keys&)>& describe, bool is_set) override;
    void each(const key& k, const collection& c) override;

private:
    std::string& out_;
    std::size_t depth_;

    void line(std::string_view name, std::string_view value);

    std::string indent() const { return std::string(2 * depth_, ' '); }

    std::uint64_t whole(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::uint64_t bytes(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::size_t choice(const key& k, std::size_t value, std::span<const std::string_view> names)
        override;
};

}  // namespace gateway::config
