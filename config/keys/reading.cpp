#include "config/keys/reading.hpp"

namespace gateway::config {

void reading::all(
    const located& mapping,
    findings& found,
    const std::function<void(keys&)>& describe,
    const std::function<void(section&)>& then
)
{
    section from{mapping, found};
    reading reader{from, found};
    describe(reader);
    if (then) {
        then(from);
    }
    from.refuse_the_rest();
}

void reading::flag(const key& k, bool& value)
{
    value = from_.flag(k.name).value_or(value);
}

void reading::time(const key& k, base::duration& value, base::duration min, base::duration max)
{
    value = from_.time(k.name, min, max).value_or(value);
}

void reading::other(const key& k, const form& f)
{
    const bool needed = f.says.standard == "none" && !f.optional;
    if ((needed ? from_.require(k.name) : from_.find(k.name)) != nullptr) {
        f.read(from_);
    }
}

void reading::mapping(const key& k, const std::function<void(keys&)>& describe, bool)
{
    if (const node* value = from_.find(k.name)) {
        all({value, from_.path_of(k.name)}, found_, describe);
    }
}

void reading::each(const key& k, const collection& c)
{
    const bool needed = c.says.standard == "none";
    if ((needed ? from_.require(k.name) : from_.find(k.name)) != nullptr) {
        c.read(from_);
    }
}

std::uint64_t reading::whole(
    const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
)
{
    return from_.number(k.name, min, max).value_or(value);
}

std::uint64_t reading::bytes(
    const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
)
{
    return from_.size(k.name, min, max).value_or(value);
}

std::size_t reading::choice(
    const key& k, std::size_t value, std::span<const std::string_view> names
)
{
    return from_.choice(k.name, names).value_or(value);
}

}  // namespace gateway::config
