#include "gateway/identity/bucket_name.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace gateway::identity {
namespace bucket_name_test {

std::string name_of(const std::vector<std::string>& parts)
{
    bucket_name name;
    name.start(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) {
        name.add(parts[i]);
    }
    return std::string{name.bytes()};
}

// Every tuple of up to three parts over an alphabet that contains what a naive join would use.
TEST(bucket_name, different_tuples_never_spell_the_same_bytes)
{
    std::vector<std::string> values{
        "", std::string{"\0", 1}, "\1", "a", "b", "ab", ":", "a:b", "|", ",", "\xff"};
    values.push_back(std::string{"\1\0\0\0a", 5});
    values.push_back(std::string{"a\1\0\0\0b", 6});
    std::set<std::string> names;
    std::size_t tuples = 0;
    for (const auto& a : values) {
        names.insert(name_of({a}));
        ++tuples;
        for (const auto& b : values) {
            names.insert(name_of({a, b}));
            ++tuples;
            for (const auto& c : values) {
                names.insert(name_of({a, b, c}));
                ++tuples;
            }
        }
    }
    EXPECT_EQ(names.size(), tuples);
}

TEST(bucket_name, an_address_is_never_the_same_as_a_text_of_its_bytes)
{
    const auto address = *base::ip_address::parse("2001:db8::7");
    bucket_name by_address;
    by_address.start("limit");
    by_address.add(address);
    const std::string bytes(address.network_order().begin(), address.network_order().end());
    EXPECT_NE(by_address.bytes(), name_of({"limit", bytes}));
    EXPECT_NE(by_address.bytes(), name_of({"limit", "\xff\xff\xff\xff" + bytes}));
    EXPECT_NE(by_address.bytes(), name_of({"limit", "2001:db8::7"}));
}

TEST(bucket_name, different_addresses_are_different_buckets)
{
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        bucket_name name;
        name.start("limit");
        name.add(base::ip_address::v4(i * 7919));
        names.insert(std::string{name.bytes()});
    }
    EXPECT_EQ(names.size(), 1000U);
}

TEST(bucket_name, starting_again_forgets_what_was_there)
{
    bucket_name name;
    name.start("first");
    name.add("something long enough not to fit any small buffer");
    name.start("limit");
    name.add("a");
    EXPECT_EQ(name.bytes(), name_of({"limit", "a"}));
}

bucket_name named(std::string_view limit, std::string_view key)
{
    bucket_name name;
    name.start(limit);
    name.add(key);
    return name;
}

TEST(bucket_name, can_have_the_key_of_another_one)
{
    for (const std::string& key : {std::string{}, std::string{"a"}, std::string(100, 'x')}) {
        for (const bool hashed_before : {false, true}) {
            bucket_name first = named("first", key);
            if (hashed_before) {
                (void)first.hashed();
            }
            bucket_name second = named("second", std::string(key.size(), 'y'));
            (void)second.hashed();
            second.start("second", first);
            EXPECT_EQ(second.bytes(), named("second", key).bytes());
            EXPECT_EQ(second.hashed().hash(), named("second", key).hashed().hash());
            EXPECT_EQ(second.hashed().hash(), hashed(second.bytes()).hash());
        }
    }
}

TEST(bucket_name, is_hashed_as_it_is_now)
{
    bucket_name name = named("limit", "a");
    const base::hash128 of_a = name.hashed().hash();
    name.add("more");
    EXPECT_NE(name.hashed().hash(), of_a);
    name.start("limit");
    name.add("b");
    EXPECT_EQ(name.hashed().hash(), named("limit", "b").hashed().hash());
    name.start("other");
    name.add("a");
    EXPECT_EQ(name.hashed().hash(), named("other", "a").hashed().hash());
}

TEST(bucket_name, has_a_hash_whose_second_half_is_of_the_key_alone)
{
    const base::hash128 a = named("limit", "a").hashed().hash();
    const base::hash128 b = named("limit", "b").hashed().hash();
    const base::hash128 other = named("other", "a").hashed().hash();
    EXPECT_NE(a.low, b.low);
    EXPECT_NE(a.high, b.high);
    EXPECT_NE(a.low, other.low);
    EXPECT_EQ(a.high, other.high);
}

TEST(bucket_name, without_a_key_has_a_hash_of_its_own)
{
    bucket_name first;
    first.start("first");
    bucket_name second;
    second.start("second", first);
    EXPECT_NE(first.hashed().hash().high, second.hashed().hash().high);
    EXPECT_NE(first.hashed().hash().low, second.hashed().hash().low);
    EXPECT_EQ(second.hashed().hash(), hashed(second.bytes()).hash());
}

TEST(bucket_name, is_read_back_part_by_part)
{
    const auto address = *base::ip_address::parse("2001:db8::1");
    bucket_name name;
    name.start("limit");
    name.add("");
    name.add(address);
    name.add(std::string(300, 'x'));
    const auto parts = parts_of(name.bytes());
    ASSERT_EQ(parts.size(), 4U);
    EXPECT_EQ(std::get<std::string_view>(parts[0]), "limit");
    EXPECT_EQ(std::get<std::string_view>(parts[1]), "");
    EXPECT_EQ(std::get<base::ip_address>(parts[2]), address);
    EXPECT_EQ(std::get<std::string_view>(parts[3]), std::string(300, 'x'));
    for (std::size_t cut = 0; cut < name.bytes().size(); ++cut) {
        EXPECT_LE(parts_of(name.bytes().substr(0, cut)).size(), 4U) << "ends";
    }
}

}  // namespace bucket_name_test
}  // namespace gateway::identity
