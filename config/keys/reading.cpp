// `read_mapping` reads described keys from the file.
#include "config/keys/keys.hpp"

namespace gateway::config {
namespace {

class reading final : public keys {
public:
    explicit reading(section& from) : from_(from) {}

    void other(const key& k, const form& f) override
    {
        if (is_there(k)) {
            f.read(from_);
        }
    }

    void mapping(const key& k, const describe_keys& describe, bool) override
    {
        if (is_there(k)) {
            read_mapping(from_.value(k.name), from_.found(), describe);
        }
    }

    void line(const key& k, const line_form& f) override
    {
        const bool other_value =
            f.otherwise.read && from_.has(k.name) && from_.find(k.name)->is != node::kind::mapping;
        other_value ? f.otherwise.read(from_) : mapping(k, f.describe, true);
    }

    void each(const key& k, const collection& c) override
    {
        if (is_there(k)) {
            c.read(from_);
        }
    }

    void rule(const std::function<void(section&)>& holds) override { holds(from_); }

private:
    section& from_;

    bool is_there(const key& k)
    {
        return (k.required ? from_.require(k.name) : from_.find(k.name)) != nullptr;
    }

    std::uint64_t take(const key& k, const scalar& s) override
    {
        return is_there(k) ? read(k.name, s).value_or(s.value) : s.value;
    }

    std::optional<std::uint64_t> read(std::string_view name, const scalar& s)
    {
        const auto [min, max] = s.within;
        switch (s.is) {
            case scalar::kind::flag:
                return from_.flag(name);
            case scalar::kind::time: {
                const auto time = from_.time(name, duration_of(min), duration_of(max));
                return time ? std::optional<std::uint64_t>{time->count()} : std::nullopt;
            }
            case scalar::kind::bytes:
                return from_.size(name, min, max);
            case scalar::kind::word:
                return from_.choice(name, s.names);
            case scalar::kind::whole:
                break;
        }
        return from_.number(name, min, max);
    }
};

}  // namespace

void read_mapping(const located& mapping, findings& found, const describe_keys& describe)
{
    section from{mapping, found};
    reading reader{from};
    describe(reader);
    from.refuse_the_rest();
}

}  // namespace gateway::config
