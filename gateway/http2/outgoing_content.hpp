// `outgoing_content` is what a stream sends behind its head. Content that the peer's window does
// not allow is kept: at most what one read of the other side gave.
#pragma once

#include "gateway/base/text.hpp"
#include "gateway/http2/engine.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace gateway::http2 {

class outgoing_content {
public:
    // Prepares for another stream.
    void clear()
    {
        drop();
        base::clear_keeping_little(trailers_);
        ended_ = false;
    }

    // Drops what was not sent.
    void drop()
    {
        direct_ = {};
        base::clear_keeping_little(kept_);
        kept_at_ = 0;
    }

    void keep(std::string_view content) { kept_.append(content); }

    // Sends what the peer takes from where it lies, and keeps the rest.
    // Requires: nothing is pending, and no event of the engine is under way.
    void send(std::string_view content, engine& by, stream_id id)
    {
        direct_ = content;
        by.resume(id);
        by.send_frames();
        keep(std::exchange(direct_, {}));
    }

    // Ends the content, and sends `trailers` behind it: lines "name: value\r\n", or nothing.
    void end(std::string_view trailers)
    {
        ended_ = true;
        trailers_.assign(trailers);
    }

    std::string_view pending() const
    {
        return direct_.empty() ? std::string_view(kept_).substr(kept_at_) : direct_;
    }

    // True if nothing follows what is pending but the trailers.
    bool is_ended() const { return ended_; }

    std::string_view trailers() const { return trailers_; }

    void sent(std::size_t bytes)
    {
        if (!direct_.empty()) {
            direct_.remove_prefix(bytes);
            return;
        }
        kept_at_ += bytes;
        if (kept_at_ == kept_.size()) {
            base::clear_keeping_little(kept_);
            kept_at_ = 0;
        }
    }

private:
    // Content that is being sent from where it lies.
    std::string_view direct_;
    // Content that waits, from kept_at_ on.
    std::string kept_;
    std::size_t kept_at_ = 0;
    std::string trailers_;
    bool ended_ = false;
};

}  // namespace gateway::http2
