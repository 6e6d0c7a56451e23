#include "gateway/net/tls/pem_reader.hpp"

#include <algorithm>
#include <ctime>
#include <limits>

namespace gateway::net {

pem_text pem_text_of(const std::string& text)
{
    constexpr std::size_t most = std::numeric_limits<int>::max();
    return pem_text{BIO_new_mem_buf(text.data(), static_cast<int>(std::min(text.size(), most)))};
}

int no_password(char*, int, int, void*)
{
    return 0;
}

std::chrono::seconds unix_time_of(const ASN1_TIME* time)
{
    std::tm parts{};
    return ASN1_TIME_to_tm(time, &parts) == 1 ? std::chrono::seconds{::timegm(&parts)}
                                              : std::chrono::seconds{0};
}

}  // namespace gateway::net
