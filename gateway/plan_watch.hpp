// `plan_watch` watches the plan files of the configuration in force. It reads a changed one on a
// background thread, as a million lines take a second.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/base/clock.hpp"
#include "gateway/net/alarm.hpp"
#include "gateway/process/background_thread.hpp"
#include "gateway/telemetry/figures.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gateway {

class plan_watch {
public:
    // Time between two looks at the files.
    static constexpr base::duration interval = std::chrono::seconds{1};

    // Receives the name of a section of `plans` and its new members.
    using listener = std::function<void(const std::string& name, config::plan_file fresh)>;

    plan_watch(net::executor executor, listener changed);
    plan_watch(const plan_watch&) = delete;
    plan_watch& operator=(const plan_watch&) = delete;

    // Watches the files of this configuration from now on. Their stamps in it are those in force.
    void watch(const config::settings& in_force);

    std::vector<telemetry::plan_figures> figures() const;

private:
    struct watched {
        std::string name;
        // Empty: the section has no file.
        std::string path;
        policy::key_part part{};
        // Stamp of the version in force.
        config::file_stamp stamp{};
        // Stamp of the last version that could not be read.
        std::optional<config::file_stamp> bad{};
        std::size_t members = 0;
    };

    net::executor executor_;
    listener changed_;
    net::alarm next_look_;
    std::vector<watched> all_;
    // Number of versions that could not be read, by the name of the section.
    std::map<std::string, std::uint64_t> errors_;
    bool reading_ = false;
    // Number of the configuration. Files that were read for an older one are dropped.
    std::uint64_t era_ = 0;
    // The last member, as its destructor waits for the file that is being read.
    background_thread reader_;

    void look();
    void read(const watched& w);
    void was_read(const std::string& name, config::plan_file fresh);
};

}  // namespace gateway
