// An attack on one proxy, while others are served by it: connections that are visited in turn, at a
// fixed rate. What a visit does is the attack's kind: it adds a byte to a head without end, takes a
// little of an answer, or gives the connection up for another one. Only while a slice lasts;
// between slices the connections stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bench {

struct attack_plan;

struct attack_options {
    std::string kind;  // of the table in attack.cpp
    std::size_t connections = 0;
    double rate = 0;  // visits per second, of all connections together; 0: they are just there
};

class attack final {
public:
    attack(std::uint16_t port, const attack_options& options);  // opens all connections
    ~attack();
    attack(const attack&) = delete;
    attack& operator=(const attack&) = delete;

    void resume(std::uint64_t time);
    void go_on(std::uint64_t time);  // the visits that are due

    // Ends the program if a connection is gone that this kind means to hold: no attack, no figure.
    void check() const;

private:
    struct connection {
        int fd = -1;
        std::size_t visits = 0;
    };

    void open(connection& which);
    void visit(connection& which);

    std::uint16_t port_;
    double rate_;
    const attack_plan& plan_;
    std::string piece_;
    std::vector<connection> connections_;
    std::size_t opened_ = 0;
    std::size_t next_ = 0;
    std::uint64_t resumed_ = 0;
    std::uint64_t visited_ = 0;  // since then
    std::minstd_rand random_{1};
};

}  // namespace bench
