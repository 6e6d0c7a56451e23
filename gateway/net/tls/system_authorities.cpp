#include "gateway/net/tls/system_authorities.hpp"

#include "gateway/base/text.hpp"

#include <openssl/x509.h>

#include <cstdlib>
#include <string_view>
#include <sys/stat.h>

namespace gateway::net {

namespace {

std::string path_from(const char* variable, const char* otherwise)
{
    const char* const value = std::getenv(variable);
    return value == nullptr ? otherwise : value;
}

std::string edition_of(const std::string& path)
{
    struct stat about {};

    if (::stat(path.c_str(), &about) != 0) {
        return "none,";
    }
    std::string text;
    for (const auto number :
         {static_cast<long long>(about.st_ino),
          static_cast<long long>(about.st_size),
          static_cast<long long>(about.st_mtim.tv_sec),
          static_cast<long long>(about.st_mtim.tv_nsec)}) {
        text += std::to_string(number) + ',';
    }
    return text;
}

}  // namespace

std::string edition_of_system_authorities()
{
    std::string text =
        edition_of(path_from(X509_get_default_cert_file_env(), X509_get_default_cert_file()));
    const std::string folders =
        path_from(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
    base::for_each_element(folders, ':', [&](std::string_view folder) {
        text += edition_of(std::string{folder});
    });
    return text;
}

}  // namespace gateway::net
