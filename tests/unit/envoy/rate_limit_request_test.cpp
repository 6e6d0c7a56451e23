#include "gateway/envoy/rate_limit_request.hpp"

#include "tests/unit/envoy/messages.hpp"

#include <gmock/gmock.h>

#include <random>

namespace gateway::envoy {
namespace rate_limit_request_test {

using ::testing::ElementsAre;
using testing::entry;
using ::testing::HasSubstr;
using testing::number;
using testing::tag;
using testing::text;
using testing::varint;

const std::string login = entry("generic_key", "login");
const std::string address = entry("remote_address", "192.0.2.7");
// Every field that there is.
const std::string whole = text(1, "edge") + text(2, login + address) +
                          text(2, address + text(2, number(1, 100) + number(2, 2))) +
                          text(2, login + text(3, number(1, 0)) + number(4, 1)) + number(3, 7);

std::string refusal_of(std::string_view message)
{
    rate_limit_request out;
    return std::string{decode(message, out)};
}

std::vector<descriptor_entry> entries_of(const rate_limit_request& r, std::size_t i)
{
    const auto all = r.entries_of(r.descriptors[i]);
    return {all.begin(), all.end()};
}

TEST(rate_limit_request, is_decoded_with_every_field)
{
    rate_limit_request r;
    ASSERT_EQ(decode(whole, r), "");
    EXPECT_EQ(r.domain, "edge");
    EXPECT_EQ(r.hits_addend, 7U);
    ASSERT_EQ(r.descriptors.size(), 3U);
    const descriptor_entry by_login{"generic_key", "login"};
    const descriptor_entry by_address{"remote_address", "192.0.2.7"};
    EXPECT_THAT(entries_of(r, 0), ElementsAre(by_login, by_address));
    EXPECT_THAT(entries_of(r, 1), ElementsAre(by_address));
    EXPECT_THAT(entries_of(r, 2), ElementsAre(by_login));
    EXPECT_EQ(r.descriptors[0].limit, std::nullopt);
    EXPECT_EQ(r.descriptors[1].limit, (rate_override{100, time_unit::minute}));
    EXPECT_EQ(r.hits_of(r.descriptors[0]), 7U);
    EXPECT_EQ(r.descriptors[2].hits, 0U) << "0 of its own is no absence";
    EXPECT_EQ(r.hits_of(r.descriptors[2]), 0U);
    EXPECT_FALSE(r.descriptors[1].refunds);
    EXPECT_TRUE(r.descriptors[2].refunds);
}

TEST(rate_limit_request, may_be_empty_and_forgets_the_last_one)
{
    rate_limit_request r;
    ASSERT_EQ(decode(whole, r), "");
    ASSERT_EQ(decode("", r), "");
    EXPECT_EQ(r.domain, "");
    EXPECT_TRUE(r.descriptors.empty());
    EXPECT_TRUE(r.entries.empty());
    EXPECT_EQ(r.hits_addend, 0U);
}

TEST(rate_limit_request, costs_one_without_hits)
{
    rate_limit_request r;
    ASSERT_EQ(decode(text(2, login) + text(2, login + text(3, "")) + number(3, 0), r), "");
    EXPECT_EQ(r.hits_of(r.descriptors[0]), 1U);
    EXPECT_EQ(r.hits_of(r.descriptors[1]), 0U) << "an empty wrapper holds 0";
}

TEST(rate_limit_request, has_numbers_up_to_their_types)
{
    rate_limit_request r;
    const std::string all = text(2, login + text(3, number(1, UINT64_MAX))) + number(3, UINT32_MAX);
    ASSERT_EQ(decode(all, r), "");
    EXPECT_EQ(r.hits_addend, UINT32_MAX);
    EXPECT_EQ(r.hits_of(r.descriptors[0]), UINT64_MAX);
}

TEST(rate_limit_request, has_the_last_of_repeated_fields)
{
    rate_limit_request r;
    const std::string twice = text(1, text(1, "a") + text(1, "b") + text(2, "1") + text(2, "2"));
    const std::string limits = text(2, number(1, 5)) + text(2, number(2, 3));
    const std::string message = text(1, "x") + text(1, "edge") + text(2, twice + limits);
    ASSERT_EQ(decode(message, r), "");
    EXPECT_EQ(r.domain, "edge");
    EXPECT_THAT(entries_of(r, 0), ElementsAre(descriptor_entry{"b", "2"}));
    EXPECT_EQ(r.descriptors[0].limit, (rate_override{5, time_unit::hour})) << "they are merged";
}

TEST(rate_limit_request, passes_over_unknown_fields_everywhere)
{
    std::string unknown = number(100, UINT64_MAX);
    unknown.append(text(101, "x")).append(tag(102, 1)).append(8, 'x');
    unknown.append(tag(103, 5)).append(4, 'x');
    const std::string d = text(1, text(1, "k") + text(2, "v") + unknown) + unknown +
                          text(2, number(1, 1) + unknown) + text(3, number(1, 9) + unknown);
    rate_limit_request r;
    const std::string message = unknown + text(1, "edge") + text(2, d) + unknown + number(3, 2);
    ASSERT_EQ(decode(message, r), "");
    EXPECT_EQ(r.domain, "edge");
    EXPECT_EQ(r.hits_addend, 2U);
    EXPECT_THAT(entries_of(r, 0), ElementsAre(descriptor_entry{"k", "v"}));
    EXPECT_EQ(r.hits_of(r.descriptors[0]), 9U);
}

TEST(rate_limit_request, takes_any_bytes_for_a_value)
{
    std::string bytes;
    for (int c = 0; c < 256; ++c) {
        bytes += static_cast<char>(c);
    }
    rate_limit_request r;
    const std::string message = text(2, entry("k", bytes) + entry("k", ""));
    ASSERT_EQ(decode(message, r), "");
    EXPECT_THAT(
        entries_of(r, 0), ElementsAre(descriptor_entry{"k", bytes}, descriptor_entry{"k", ""})
    );
}

TEST(rate_limit_request, reads_units_it_does_not_know_as_unknown)
{
    for (const std::uint64_t unit :
         {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 31U, UINT64_MAX}) {
        rate_limit_request r;
        ASSERT_EQ(decode(text(2, login + text(2, number(2, unit))), r), "");
        EXPECT_EQ(r.descriptors[0].limit, (rate_override{0, time_unit::unknown})) << unit;
    }
}

TEST(rate_limit_request, is_refused_when_it_is_cut_anywhere_but_between_fields)
{
    std::size_t good = 0;
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        // The end of the memory is the end of the message, for the address sanitizer.
        const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(size));
        rate_limit_request r;
        good += decode({cut.data(), cut.size()}, r).empty() ? 1 : 0;
    }
    EXPECT_EQ(good, 6U) << "the empty message, and one after each of its five fields";
}

TEST(rate_limit_request, is_refused_for_a_known_field_of_another_type)
{
    const std::vector<std::string> wrong{
        number(1, 5),
        number(2, 5),
        text(3, "5"),
        tag(3, 5) + "abcd",
        tag(1, 1) + "abcdefgh",
        text(2, number(1, 5)),
        text(2, login + number(2, 5)),
        text(2, login + number(3, 5)),
        text(2, login + text(4, "5")),
        text(2, text(1, number(1, 5))),
        text(2, text(1, text(1, "k") + number(2, 5))),
        text(2, login + text(2, text(1, "5"))),
        text(2, login + text(2, text(2, "5"))),
        text(2, login + text(3, text(1, "5"))),
    };
    for (const std::string& message : wrong) {
        EXPECT_EQ(refusal_of(message), "a field of the message has another type");
    }
}

TEST(rate_limit_request, is_refused_for_what_proto3_does_not_have)
{
    const std::string malformed = "the message is not well-formed protobuf";
    EXPECT_EQ(refusal_of(tag(9, 3) + tag(9, 4)), malformed) << "a group";
    EXPECT_EQ(refusal_of(tag(9, 6)), malformed);
    EXPECT_EQ(refusal_of(tag(9, 7)), malformed);
    EXPECT_EQ(refusal_of(tag(0, 0) + varint(1)), malformed) << "field 0";
    EXPECT_EQ(refusal_of(tag(19000, 0) + varint(1)), malformed) << "a reserved field";
    EXPECT_EQ(refusal_of(std::string(11, '\xff')), malformed) << "a varint without an end";
    EXPECT_EQ(refusal_of(tag(3, 0) + std::string(10, '\x80') + '\x01'), malformed);
}

TEST(rate_limit_request, is_refused_for_lengths_past_its_end)
{
    for (const std::uint64_t length :
         {std::uint64_t{1},
          std::uint64_t{0x7fffffff},
          std::uint64_t{0xffffffff},
          std::uint64_t{1} << 32U,
          UINT64_MAX}) {
        EXPECT_NE(refusal_of(tag(1, 2) + varint(length)), "") << length;
        EXPECT_NE(refusal_of(tag(77, 2) + varint(length)), "") << length;
        EXPECT_NE(refusal_of(text(2, tag(1, 2) + varint(length))), "") << length;
    }
}

TEST(rate_limit_request, is_refused_beyond_each_bound)
{
    const auto many = [](const std::string& one, std::size_t n) {
        std::string all;
        while (n-- > 0) {
            all += one;
        }
        return all;
    };
    const std::string d = text(2, login);
    EXPECT_EQ(refusal_of(many(d, max_descriptors)), "");
    EXPECT_THAT(refusal_of(many(d, max_descriptors + 1)), HasSubstr("64 descriptors"));
    EXPECT_EQ(refusal_of(text(2, many(login, max_entries))), "");
    EXPECT_THAT(refusal_of(text(2, many(login, max_entries + 1))), HasSubstr("32 entries"));
    EXPECT_EQ(refusal_of(text(2, entry(std::string(max_key_bytes, 'k'), "v"))), "");
    EXPECT_THAT(
        refusal_of(text(2, entry(std::string(max_key_bytes + 1, 'k'), "v"))), HasSubstr("256 bytes")
    );
    EXPECT_EQ(refusal_of(text(2, entry("k", std::string(max_value_bytes, 'v')))), "");
    EXPECT_THAT(
        refusal_of(text(2, entry("k", std::string(max_value_bytes + 1, 'v')))), HasSubstr("64 KiB")
    );
    const std::string full = text(99, std::string(max_request_bytes - 5, 'x'));
    EXPECT_EQ(full.size(), max_request_bytes);
    EXPECT_EQ(refusal_of(full), "");
    EXPECT_THAT(refusal_of(full + "x"), HasSubstr("256 KiB"));
}

TEST(rate_limit_request, is_refused_without_keys_or_entries)
{
    EXPECT_EQ(refusal_of(text(2, "")), "a descriptor has no entries");
    EXPECT_EQ(refusal_of(text(2, text(3, ""))), "a descriptor has no entries");
    EXPECT_EQ(refusal_of(text(2, entry("", "v"))), "an entry of a descriptor has no key");
    EXPECT_EQ(refusal_of(text(2, text(1, ""))), "an entry of a descriptor has no key");
}

// Every change of one byte is refused, or decoded to something within the bounds.
TEST(rate_limit_request, stays_within_its_bounds_whatever_a_byte_is)
{
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int c = 0; c < 256; ++c) {
            std::string changed = whole;
            changed[at] = static_cast<char>(c);
            rate_limit_request r;
            if (decode(changed, r).empty()) {
                for (const descriptor& d : r.descriptors) {
                    ASSERT_GE(d.entry_count, 1U);
                    ASSERT_LE(d.first_entry + d.entry_count, r.entries.size());
                }
            }
        }
    }
}

}  // namespace rate_limit_request_test
}  // namespace gateway::envoy
