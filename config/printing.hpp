// `printing` prints described settings as YAML.
#pragma once

#include "config/keys/keys.hpp"

#include <string>

namespace gateway::config {

class printing final : public keys {
public:
    // `position` is the place of a mapping in the output.
    struct position {
        // Paths of the keys whose values are not shown.
        std::span<const std::string> secret_paths{};
        // Indentation of its lines, in levels of two spaces.
        std::size_t depth = 0;
        // Path of the mapping. Empty: the whole file.
        std::string path{};
    };

    // Appends lines to `out`.
    printing(std::string& out, position at) : out_(out), at_(std::move(at)) {}

    void flag(const key& k, bool& value) override;
    void time(const key& k, base::duration& value, base::duration min, base::duration max) override;
    void other(const key& k, const form& f) override;
    void mapping(const key& k, const std::function<void(keys&)>& describe, bool is_set) override;
    void each(const key& k, const collection& c) override;

private:
    std::string& out_;
    position at_;

    void line(std::string_view name, std::string_view value);

    bool hides(const std::string& path) const;
    // Returns the position of a value that is this many levels below.
    position below(std::string path, std::size_t levels = 1) const;

    std::string indent() const { return std::string(2 * at_.depth, ' '); }

    std::uint64_t whole(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::uint64_t bytes(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override;
    std::size_t choice(const key& k, std::size_t value, std::span<const std::string_view> names)
        override;
};

}  // namespace gateway::config
