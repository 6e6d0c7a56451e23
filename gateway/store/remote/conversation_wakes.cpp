#include "gateway/store/remote/conversation_wakes.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::store {

conversation_wakes::conversation_wakes(
    const net::executor& executor, conversation_state& wakes, std::function<void()> receive
)
    : executor_(executor), conversation_(wakes), receive_(std::move(receive)), timer_(executor)
{}

// Sets the one timer for all deadlines. It moves only when an earlier one comes: as they usually
// come in order, it is set once per timeout, not once per question.
void conversation_wakes::at(base::instant deadline, std::shared_ptr<const void> keeper)
{
    timer_.expires_at(deadline);
    auto wake = [this, keeper = std::move(keeper)](const boost::system::error_code& ec) {
        if (ec || conversation_.link().closed()) {
            return;
        }
        // An answer that has arrived is in time, even if this loop was too busy to read it.
        if (conversation_.link().ready()) {
            receive_();
        }
        conversation_.passed(base::now());
    };
    timer_.async_wait(std::move(wake));
}

void conversation_wakes::after_turn(std::shared_ptr<const void> keeper)
{
    if (std::exchange(turn_end_posted_, true)) {
        return;
    }
    auto end = [this, keeper = std::move(keeper)] {
        turn_end_posted_ = false;
        conversation_.turn_ended(base::now());
    };
    boost::asio::post(executor_, std::move(end));
}

}  // namespace gateway::store
