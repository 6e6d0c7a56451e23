#include "gateway/net/tls/ticket_keys.hpp"

#include "gateway/net/tls/owned.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <optional>
#include <string>

namespace gateway::net {
namespace ticket_keys_test {

using namespace std::chrono_literals;

using cipher = owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using mac_kind = owned<EVP_MAC, EVP_MAC_free>;
using mac = owned<EVP_MAC_CTX, EVP_MAC_CTX_free>;

constexpr int unknown = 0;
constexpr int good = 1;
constexpr int good_but_old = 2;

// What OpenSSL does with the keys: seals a text, and opens it.
struct ticket {
    std::array<unsigned char, 16> name{};
    std::array<unsigned char, 16> iv{};
    std::array<unsigned char, 32> sealed{};
    std::array<unsigned char, 32> digest{};
};

mac new_mac()
{
    const mac_kind kind{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
    return mac{EVP_MAC_CTX_new(kind.get())};
}

std::array<unsigned char, 32> digest_by(const mac& by, const ticket& of)
{
    std::array<unsigned char, 32> made{};
    std::size_t size = 0;
    EVP_MAC_init(by.get(), nullptr, 0, nullptr);
    EVP_MAC_update(by.get(), of.sealed.data(), of.sealed.size());
    EVP_MAC_final(by.get(), made.data(), &size, made.size());
    return made;
}

ticket made_by(ticket_keys& keys)
{
    ticket made;
    const cipher c{EVP_CIPHER_CTX_new()};
    const mac m = new_mac();
    EXPECT_EQ(keys.use(made.name.data(), made.iv.data(), c.get(), m.get(), true), good);
    int size = 0;
    const std::array<unsigned char, 16> text{"fifteen letters"};
    EVP_EncryptUpdate(c.get(), made.sealed.data(), &size, text.data(), text.size());
    EVP_EncryptFinal_ex(c.get(), made.sealed.data() + size, &size);
    made.digest = digest_by(m, made);
    return made;
}

int opened_by(ticket_keys& keys, ticket of)
{
    const cipher c{EVP_CIPHER_CTX_new()};
    const mac m = new_mac();
    const int result = keys.use(of.name.data(), of.iv.data(), c.get(), m.get(), false);
    if (result == good || result == good_but_old) {
        EXPECT_EQ(digest_by(m, of), of.digest);
        std::array<unsigned char, 64> text{};
        int size = 0;
        int rest = 0;
        EVP_DecryptUpdate(c.get(), text.data(), &size, of.sealed.data(), of.sealed.size());
        EXPECT_EQ(EVP_DecryptFinal_ex(c.get(), text.data() + size, &rest), 1);
        EXPECT_STREQ(reinterpret_cast<const char*>(text.data()), "fifteen letters");
    }
    return result;
}

std::string written_key(char of)
{
    return std::string(ticket_keys::written_bytes, of);
}

TEST(ticket_keys, are_the_same_for_all_workers)
{
    const ticket_secret secret = ticket_secret::make(base::now());
    ticket_keys first{secret};
    ticket_keys second{secret};
    EXPECT_EQ(opened_by(second, made_by(first)), good);
    ticket_keys others{ticket_secret::make(base::now())};
    EXPECT_EQ(opened_by(others, made_by(first)), unknown);
}

TEST(ticket_keys, change_every_twelve_hours_and_three_are_known)
{
    const ticket_secret secret = ticket_secret::make(base::now());
    ticket_keys then{secret};
    const ticket old = made_by(then);
    for (const auto& [hours, result] :
         {std::pair{11h, good},
          std::pair{13h, good_but_old},
          std::pair{35h, good_but_old},
          std::pair{37h, unknown}}) {
        ticket_secret earlier = secret;
        earlier.since -= hours;
        ticket_keys now{earlier};
        EXPECT_EQ(opened_by(now, old), result) << hours.count();
        EXPECT_EQ(opened_by(now, made_by(now)), good) << hours.count();
    }
}

TEST(ticket_keys, of_a_file_are_made_by_the_first)
{
    ticket_keys two{written_key('a') + written_key('b')};
    ticket_keys only_first{written_key('a')};
    ticket_keys only_second{written_key('b')};
    EXPECT_EQ(opened_by(only_first, made_by(two)), good);
    EXPECT_EQ(opened_by(only_second, made_by(two)), unknown);
    EXPECT_EQ(opened_by(two, made_by(only_second)), good_but_old);
}

}  // namespace ticket_keys_test
}  // namespace gateway::net
