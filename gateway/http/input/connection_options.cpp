#include "gateway/http/input/connection_options.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/trailers.hpp"

namespace gateway::http {

namespace {

bool is_close(std::string_view option)
{
    return base::equal_ignoring_case(option, "close");
}

bool is_keep_alive(std::string_view option)
{
    return base::equal_ignoring_case(option, "keep-alive");
}

void mark(std::string_view name, field_list& fields)
{
    for (field& f : fields) {
        f.nominated = f.nominated || base::equal_ignoring_case(f.name, name);
    }
}

}  // namespace

bool connection_options::read(std::string_view value)
{
    bool good = true;
    base::for_each_element(value, ',', [&](std::string_view option) {
        if (is_close(option)) {
            close_ = true;
        } else if (is_keep_alive(option)) {
            keep_alive_ = true;
        } else if (!option.empty()) {
            good = good && base::is_token(option) && nominated_ < max_nominated;
            ++nominated_;
            nominates_trailers_ = nominates_trailers_ || (good && is_forwardable_trailer(option));
        }
    });
    return good;
}

void connection_options::mark_nominated(field_list& fields) const
{
    if (nominated_ == 0) {
        return;
    }
    for (const field& f : fields) {
        if (f.id != field_name::connection) {
            continue;
        }
        base::for_each_element(f.value, ',', [&fields](std::string_view option) {
            if (!is_close(option) && !is_keep_alive(option)) {
                mark(option, fields);
            }
        });
    }
}

}  // namespace gateway::http
