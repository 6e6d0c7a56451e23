#include "gateway/net/tls/ticket_keys.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace gateway::net {

namespace {

using digest = std::array<unsigned char, 32>;

// Derives one secret from another with HMAC-SHA-256, which nobody can reverse.
digest derived(const digest& secret, const char* what)
{
    digest made{};
    const auto* const text = reinterpret_cast<const unsigned char*>(what);
    unsigned int size = made.size();
    const int secret_bytes = static_cast<int>(secret.size());
    if (HMAC(
            EVP_sha256(), secret.data(), secret_bytes, text, std::strlen(what), made.data(), &size
        ) == nullptr) {
        throw std::bad_alloc{};
    }
    return made;
}

template <std::size_t Size>
void copy_from(const char* from, std::array<unsigned char, Size>& to)
{
    std::memcpy(to.data(), from, Size);
}

int begin(EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, const auto& key, unsigned char* iv, bool make)
{
    std::array<char, 7> digest_name{"SHA256"};
    auto secret = key.mac;
    const std::array<OSSL_PARAM, 3> of_mac{
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest_name.data(), 0),
        OSSL_PARAM_construct_end(),
    };
    if (EVP_MAC_CTX_set_params(mac, of_mac.data()) != 1) {
        return -1;
    }
    const EVP_CIPHER* const kind = EVP_aes_256_cbc();
    return (
        make ? EVP_EncryptInit_ex(cipher, kind, nullptr, key.cipher.data(), iv)
             : EVP_DecryptInit_ex(cipher, kind, nullptr, key.cipher.data(), iv)
    );
}

}  // namespace

ticket_secret ticket_secret::make(base::instant now)
{
    ticket_secret made{.since = now};
    if (RAND_bytes(made.secret.data(), static_cast<int>(made.secret.size())) != 1) {
        throw std::bad_alloc{};
    }
    return made;
}

ticket_keys::ticket_keys(const ticket_secret& begin) : at_(begin)
{
    add_key();
}

ticket_keys::ticket_keys(const std::string& written)
{
    for (std::size_t at = 0; at + written_bytes <= written.size(); at += written_bytes) {
        key& k = keys_.emplace_back();
        copy_from(written.data() + at, k.name);
        copy_from(written.data() + at + 16, k.mac);
        copy_from(written.data() + at + 48, k.cipher);
    }
}

void ticket_keys::add_key()
{
    const digest name = derived(at_->secret, "name");
    key k{{}, derived(at_->secret, "mac"), derived(at_->secret, "cipher")};
    std::copy_n(name.begin(), k.name.size(), k.name.begin());
    keys_.insert(keys_.begin(), k);
    keys_.resize(std::min(keys_.size(), most));
}

void ticket_keys::advance(base::instant now)
{
    while (at_ && now - at_->since >= rotation) {
        at_->secret = derived(at_->secret, "next");
        at_->since += rotation;
        add_key();
    }
}

int ticket_keys::use(
    unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, bool make
)
{
    advance(base::now());
    if (make) {
        const key& newest = keys_.front();
        std::memcpy(name, newest.name.data(), newest.name.size());
        if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) {
            return -1;
        }
        return begin(cipher, mac, newest, iv, true);
    }
    const auto known = std::find_if(keys_.begin(), keys_.end(), [name](const key& k) {
        return std::memcmp(name, k.name.data(), k.name.size()) == 0;
    });
    if (known == keys_.end()) {
        return 0;
    }
    const int begun = begin(cipher, mac, *known, iv, false);
    // A result of 2 also has the client get a new ticket.
    return begun == 1 && known != keys_.begin() ? 2 : begun;
}

}  // namespace gateway::net
