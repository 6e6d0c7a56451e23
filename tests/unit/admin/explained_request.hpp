// `random_request` describes a random request to a random_policy.
#pragma once

#include "gateway/intake/hypothetical_request.hpp"
#include "tests/unit/admin/explained_policy.hpp"

#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gateway::admin::explained {

// Returns values of Authorization: good tokens, a forged one, and one of another issuer.
inline const std::vector<std::string>& authorizations()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made;
        for (const char* claims :
             {R"({"sub":"alice"})",
              R"({"sub":"alice","plan":"gold","rate":2})",
              R"({"sub":"bob","plan":"free","rate":9,"burst":3})",
              R"({"rate":"many","plan":"none"})"}) {
            made.push_back("Bearer " + known_issuer.token(claims));
        }
        made.push_back(made.front() + "AAAA");
        made.push_back("Bearer " + unknown_issuer.token(R"({"sub":"alice"})"));
        return made;
    }();
    return all;
}

class random_request {
public:
    explicit random_request(std::mt19937& random) : random_(random)
    {
        made_.method = one_of({"GET", "GET", "POST", "POST", "OPTIONS", "TRACE"});
        made_.url = one_of({"", "", "http://one.example.com", "https://two.example.com"}) +
                    one_of({"/a", "/a", "/A/x", "/b", "/b//c/", "/b/d", "/%zz", "/none"}) +
                    one_of({"", "?q=1", "?q=1&q=2", "?q=", "?q=1&n=2", "?n=x"});
        made_.peer = one_of({"10.0.0.1", "10.0.0.1", "192.0.2.9"});
        add_headers();
        add_content();
    }

    const intake::hypothetical_request& get() const { return made_; }

private:
    std::mt19937& random_;
    intake::hypothetical_request made_;

    std::string one_of(const std::vector<std::string>& texts)
    {
        return texts[random_() % texts.size()];
    }

    // Adds the header with one of these values, or leaves it out for "-".
    void maybe(const char* name, const std::vector<std::string>& values)
    {
        if (std::string value = one_of(values); value != "-") {
            made_.headers.emplace_back(name, std::move(value));
        }
    }

    void add_headers()
    {
        maybe("X-Key", {"-", "k", "k", "l"});
        maybe("X-Key", {"-", "-", "-", "k"});
        maybe("X-Plan", {"-", "-", "gold", "free", "none", "else"});
        maybe("X-Cost", {"-", "-", "0", "1", "2", "x", "9"});
        maybe("Cookie", {"-", "s=1", "s=1", "s=2; t=3", "s=1; s=2"});
        maybe("X-Forwarded-For", {"-", "192.0.2.1", "192.0.2.2", "198.51.100.1"});
        maybe("Max-Forwards", {"-", "-", "-", "-", "-", "-", "-", "-", "0"});
        if (random_() % 2 == 0) {
            maybe("Authorization", authorizations());
        }
    }

    void add_content()
    {
        if (random_() % 3 == 0) {
            return;
        }
        made_.content = one_of(
            {R"({"model":"m","user":{"id":"u"}})",
             R"({"model":"m","n":2})",
             R"({"n":7,"user":{"id":3}})",
             R"({"n":"2"})",
             R"({"user":{"id":"u"},"model":"x"})",
             R"({"user":{"id":["u"]}})",
             R"({"user":{"id":"u"},"user":{"id":"v"}})",
             R"({"user":{"id":"u"}} and more)",
             R"({"id":1,"model":"m","model":"x"})",
             "[1, 2]",
             "{"}
        );
        maybe("Content-Type", {"-", "-", "-", "-", "text/plain"});
    }
};

}  // namespace gateway::admin::explained
