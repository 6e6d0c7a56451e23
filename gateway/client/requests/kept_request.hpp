// `kept_request` is a request whose content is read before it is decided about: its head, which it
// keeps, and the content so far.
// Thread: one thread only.
#pragma once

#include "gateway/client/requests/kept_head.hpp"
#include "gateway/client/requests/request_state.hpp"
#include "gateway/content/request_values.hpp"
#include "gateway/http/message.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::client {

// `ahead_memory` is the memory that the requests of a worker keep ahead.
struct ahead_memory {
    // Most bytes of content.
    static constexpr std::size_t most = std::size_t{64} * 1024 * 1024;

    std::size_t used = 0;
};

// Returns the head of an interim response by which the gateway asks for content (RFC 9110
// §15.2.1).
http::response_head leave_to_continue();

class kept_request {
public:
    // Keeps the head. `paths` are those of the policy, and `most` is the number of bytes of content
    // that are enough.
    // Ownership: `paths` and `memory` outlive this object.
    kept_request(
        const http::request_head& head,
        const content::json_paths& paths,
        std::size_t most,
        ahead_memory& memory
    );

    ~kept_request() { release(); }

    kept_request(kept_request&&) = delete;

    content_reading read(std::string_view content, bool last, std::string_view trailers);

    // Reads the content again, by the paths of another policy, which outlive this object.
    void read_anew(const content::json_paths& paths);

    // Reads what has come beyond the bound. The result is as of read_on().
    // Requires: the request was decided about.
    bool read_rest(content::path_set paths);

    // Reads what follows, of which nothing is kept. Returns false if the content was good at these
    // paths, and turns out to be unreadable or ambiguous there.
    bool read_on(std::string_view content, bool last, content::path_set paths);

    // Frees the content, once that was sent.
    void release();

    request_ahead ahead() const { return {head_.head(), content_, is_whole_, trailers_}; }

    content::request_content values() const { return {values_->state(), &*values_}; }

private:
    kept_head head_;
    ahead_memory& memory_;
    std::size_t most_;
    bool is_json_;
    std::string content_;
    std::string trailers_;
    bool is_whole_ = false;
    // Bytes of content that have come.
    std::uint64_t seen_ = 0;
    std::optional<content::request_values> values_;

    bool is_end(std::string_view content, bool last);
};

}  // namespace gateway::client
