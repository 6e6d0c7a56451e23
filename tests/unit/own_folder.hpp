// A folder for the files of one test, which goes with it. Its name is its own, as several tests run
// at a time.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gateway::unit {

class own_folder {
public:
    own_folder()
    {
        std::string pattern = ::testing::TempDir() + "gateway-test-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) {
            ADD_FAILURE() << "no folder: " << pattern;
        }
        path_ = pattern;
    }

    ~own_folder() { std::filesystem::remove_all(path_); }

    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace gateway::unit
