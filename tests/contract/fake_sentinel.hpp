// A sentinel that says what a test wants it to say.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store::testing {

class fake_sentinel {
public:
    explicit fake_sentinel(boost::asio::io_context& io)
        : acceptor_(io, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0})
    {
        accept();
    }

    std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

    void name(int master_port, int epoch)
    {
        master_ = std::to_string(master_port);
        epoch_ = std::to_string(epoch);
    }

    // From now on it takes what comes and says nothing.
    void be_silent() { silent_ = true; }

    void be_silent_no_more() { silent_ = false; }

    // Tells those who listen that this master has been replaced.
    void publish(const std::string& master)
    {
        for (const auto& c : connections_) {
            if (c->listens) {
                say(*c, list_of({"message", "+switch-master", master + " h 1 h 2"}));
            }
        }
    }

    int listeners() const
    {
        const auto listens = [](const auto& c) { return c->listens && c->socket.is_open(); };
        return static_cast<int>(std::count_if(connections_.begin(), connections_.end(), listens));
    }

    int connected() const { return static_cast<int>(connections_.size()); }

    void close()
    {
        acceptor_.close();
        for (const auto& c : connections_) {
            c->socket.close();  // its reader ends, and with it the connection
        }
        connections_.clear();
    }

private:
    using tcp = boost::asio::ip::tcp;

    struct reader_freer {
        void operator()(redisReader* r) const { redisReaderFree(r); }
    };

    struct connection {
        explicit connection(tcp::socket s) : socket(std::move(s)) {}

        tcp::socket socket;
        std::array<char, 1024> bytes{};
        std::unique_ptr<redisReader, reader_freer> reader{redisReaderCreate()};
        bool listens = false;
    };

    tcp::acceptor acceptor_;
    std::string master_ = "1";
    std::string epoch_ = "0";
    bool silent_ = false;
    std::vector<std::shared_ptr<connection>> connections_;

    void accept()
    {
        acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket s) {
            if (!ec) {
                connections_.push_back(std::make_shared<connection>(std::move(s)));
                read(connections_.back());
                accept();
            }
        });
    }

    void read(const std::shared_ptr<connection>& c)
    {
        c->socket.async_read_some(
            boost::asio::buffer(c->bytes),
            [this, c](const boost::system::error_code& ec, std::size_t n) {
                if (ec) {
                    boost::system::error_code ignored;
                    c->socket.close(ignored);
                    return;
                }
                redisReaderFeed(c->reader.get(), c->bytes.data(), n);
                void* got = nullptr;
                while (redisReaderGetReply(c->reader.get(), &got) == REDIS_OK && got != nullptr) {
                    auto* command = static_cast<redisReply*>(got);
                    answer_to(*c, *command);
                    freeReplyObject(command);
                }
                read(c);
            }
        );
    }

    static std::string list_of(const std::vector<std::string>& words)
    {
        std::string out = "*" + std::to_string(words.size()) + "\r\n";
        for (const std::string& word : words) {
            out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
        }
        return out;
    }

    void answer_to(connection& c, const redisReply& command)
    {
        const std::string_view what = command.element[0]->str;
        if (silent_) {
            return;
        }
        if (what == "PING") {
            say(c, list_of({"pong", ""}));
        } else if (what == "SUBSCRIBE") {
            c.listens = true;
            say(c, list_of({"subscribe", "+switch-master"}));
        } else if (std::string_view{command.element[1]->str} == "MASTER") {
            say(c, list_of({"name", "buckets", "config-epoch", epoch_}));
        } else {
            say(c, list_of({"127.0.0.1", master_}));
        }
    }

    static void say(connection& c, const std::string& words)
    {
        boost::system::error_code ignored;
        boost::asio::write(c.socket, boost::asio::buffer(words), ignored);
    }
};

}  // namespace gateway::store::testing
