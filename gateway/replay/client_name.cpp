#include "gateway/replay/client_name.hpp"

#include "gateway/base/hashed_name.hpp"
#include "gateway/replay/word_list.hpp"

#include <bit>

namespace gateway::replay {

namespace {

bool tells_clients_apart(const policy::key_part& part)
{
    return !is_always_known(part) && part.from != source::host;
}

std::string_view value_of(const logged_request& r, std::size_t part)
{
    for (const part_text& p : r.parts) {
        if (p.part == part) {
            return p.text;
        }
    }
    return {};
}

}  // namespace

base::hash128 address_hash(const base::ip_address& address)
{
    using words = std::array<std::uint64_t, 2>;
    const auto word = std::bit_cast<words>(address.network_order());
    const base::hash_key& key = base::process_hash_key();
    std::uint64_t mixed = (word[1] ^ key[0]) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return {(mixed ^ (mixed >> 32)) + word[0] * (key[1] | 1), word[1] ^ word[0]};
}

client_name::client_name(const policy::limit_rule& rule, const wanted_parts& wanted)
{
    for (const policy::key_part& part : rule.key) {
        has_address_ = has_address_ || part.from == source::client_ip;
        const auto index = wanted.find(part.from, part.name);
        if (tells_clients_apart(part) && index) {
            parts_.push_back(*index);
        }
    }
    has_address_ = has_address_ || parts_.empty();
}

base::hash128 client_name::hash(const logged_request& r, const judgement& j) const
{
    if (!parts_.empty()) {
        return base::siphash128(base::process_hash_key(), text(r, j));
    }
    return address_hash(j.client);
}

std::string client_name::text(const logged_request& r, const judgement& j) const
{
    std::string name;
    for (const std::size_t part : parts_) {
        const std::string_view value = value_of(r, part);
        if (!value.empty()) {
            add_word(name, value);
        }
    }
    if (has_address_ || name.empty()) {
        add_word(name, j.client.to_string());
    }
    return name;
}

}  // namespace gateway::replay
