#include "gateway/process/socket_files.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace gateway::startup {

// Returns the file that is now at `path`. Its device and inode are 0 if nothing is there.
socket_files::file socket_files::present(const std::string& path)
{
    struct stat found {};

    ::lstat(path.c_str(), &found);
    return {path, found.st_dev, found.st_ino};
}

void socket_files::add(const std::string& path)
{
    files_.push_back(present(path));
}

bool socket_files::owns(const std::string& path) const
{
    return std::find(files_.begin(), files_.end(), present(path)) != files_.end();
}

void socket_files::remove()
{
    for (const file& owned : files_) {
        if (owned == present(owned.path)) {
            ::unlink(owned.path.c_str());
        }
    }
    files_.clear();
}

}  // namespace gateway::startup
