// `client_header` is the header in which trusted proxies name the client, ready to be found fast.
#pragma once

#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"
#include "gateway/http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::intake {

class client_header {
public:
    client_header() = default;

    explicit client_header(std::string_view name)
        : name_(base::lower_case(name)),
          id_(http::classify(name_)),
          is_unique_(
              id_ == http::field_name::x_forwarded_for || id_ == http::field_name::forwarded ||
              id_ == http::field_name::x_real_ip
          )
    {}

    // Returns the name in lower case.
    const std::string& name() const { return name_; }

    http::field_name id() const { return id_; }

    // Sets `values` to the values of all its lines, in order of arrival.
    void find(const http::request_head& head, std::vector<std::string_view>& values) const
    {
        values.clear();
        for (const http::field& f : head.fields) {
            if (f.id == id_ && (is_unique_ || base::equal_ignoring_case(f.name, name_))) {
                values.push_back(f.value);
            }
        }
    }

private:
    std::string name_;
    http::field_name id_ = http::field_name::other;
    // True if no other name has that id.
    bool is_unique_ = false;
};

}  // namespace gateway::intake
