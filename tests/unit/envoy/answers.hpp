// Reads the answers to Envoy, for tests.
#pragma once

#include "gateway/envoy/rate_limit_response.hpp"

#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

namespace gateway::envoy::testing {

struct read_status {
    code verdict = code::unknown;
    std::string limit;
    std::uint32_t requests_per_unit = 0;
    time_unit unit = time_unit::unknown;
    std::uint32_t remaining = 0;
    std::int64_t reset = 0;
};

struct read_answer {
    code overall = code::unknown;
    std::vector<read_status> statuses;
    std::map<std::string, std::string> headers;
};

inline read_status status_in(protozero::pbf_reader from)
{
    read_status s;
    while (from.next()) {
        protozero::pbf_reader inner;
        switch (from.tag()) {
            case 1:
                s.verdict = static_cast<code>(from.get_enum());
                break;
            case 2:
                inner = from.get_message();
                while (inner.next()) {
                    if (inner.tag() == 1) {
                        s.requests_per_unit = inner.get_uint32();
                    } else if (inner.tag() == 2) {
                        s.unit = static_cast<time_unit>(inner.get_enum());
                    } else {
                        s.limit = inner.get_string();
                    }
                }
                break;
            case 3:
                s.remaining = from.get_uint32();
                break;
            default:
                EXPECT_EQ(from.tag(), 4U);
                inner = from.get_message();
                while (inner.next()) {
                    s.reset = inner.get_int64();
                }
        }
    }
    return s;
}

inline read_answer answer_in(std::string_view message)
{
    read_answer a;
    protozero::pbf_reader from{message.data(), message.size()};
    while (from.next()) {
        if (from.tag() == 1) {
            a.overall = static_cast<code>(from.get_enum());
        } else if (from.tag() == 2) {
            a.statuses.push_back(status_in(from.get_message()));
        } else {
            EXPECT_EQ(from.tag(), 3U);
            protozero::pbf_reader header = from.get_message();
            EXPECT_TRUE(header.next(1));
            const std::string name = header.get_string();
            EXPECT_TRUE(header.next(2));
            a.headers[name] = header.get_string();
        }
    }
    return a;
}

}  // namespace gateway::envoy::testing
