#include "gateway/net/fresh_name.hpp"

namespace gateway::net {

namespace {

constexpr resolver_options only_when_asked{
    .refresh = resolver_options::never, .retry = resolver_options::never};

}  // namespace

fresh_name::fresh_name(const executor& ex, const server_address& of, base::duration limit)
    : wait_(ex),
      name_(resolved_name::of(ex, of, only_when_asked, [this] { wait_.cancel(); })),
      limit_(limit)
{}

task<> fresh_name::look_up()
{
    if (!stopped_ && name_.ask()) {
        co_await pause(wait_, endpoints().empty() ? limit_ : patience);
    }
}

void fresh_name::stop()
{
    stopped_ = true;
    name_.stop();
    wait_.cancel();
}

}  // namespace gateway::net
