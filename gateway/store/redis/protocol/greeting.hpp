// `greeting` is the first exchange on a new connection, sent at once: the login, the database, a
// check that the server is what sentinels report it to be, and the script. Pure: replies come in,
// and after the last of them the server can be asked.
#pragma once

#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/reply.hpp"
#include "gateway/store/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gateway::store::redis {

class greeting {
public:
    explicit greeting(const redis_options& options);

    const std::string& bytes() const { return bytes_; }

    bool done() const { return answered_ == steps_.size(); }

    // Takes the next reply. A failure ends the attempt.
    std::optional<failure> accept(const reply& r);

    // SHA by which the server knows the script.
    // Requires: done().
    const std::string& script_sha() const { return sha_; }

private:
    enum class step { authenticate, select, role, ping, load_script };

    std::vector<step> steps_;
    std::string bytes_;
    std::size_t answered_ = 0;
    std::string sha_;
};

// Appends the command that loads take.lua into the server.
void encode_script_load(std::string& out);

}  // namespace gateway::store::redis
