// `socket_files` owns the files of Unix sockets, which somebody has to remove.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace gateway::startup {

// Removes its files when it is destroyed, as they would only puzzle the next client to connect. A
// file that another process has put in the place of one of them stays.
class socket_files {
public:
    socket_files() = default;

    socket_files(socket_files&& other) noexcept { files_.swap(other.files_); }

    socket_files& operator=(socket_files&& other) noexcept
    {
        files_.swap(other.files_);
        return *this;
    }

    ~socket_files() { remove(); }

    // Takes over the file that is now at `path`.
    void add(const std::string& path);

    // True if it owns the file that is there now.
    bool owns(const std::string& path) const;

    // Gives up its files, as another process owns them from now on.
    void leave() { files_.clear(); }

    void remove();

private:
    struct file {
        std::string path;
        dev_t device = 0;
        ino_t inode = 0;

        bool operator==(const file&) const = default;
    };

    std::vector<file> files_;

    static file present(const std::string& path);
};

}  // namespace gateway::startup
