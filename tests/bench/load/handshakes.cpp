// What a whole TLS handshake costs its server in the library alone: both sides are in this thread,
// over memory, and only the server's time is counted.
//   handshakes PEM NUMBER
// Prints {"us": 123.4}: CPU time of one handshake, in microseconds.
#include "socket.hpp"
#include "wire.hpp"
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using session = std::unique_ptr<SSL, decltype(&SSL_free)>;

double cpu_microseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// Until both have finished.
void shake_hands(SSL& client, SSL& server, double& spent)
{
    while (SSL_is_init_finished(&client) == 0 || SSL_is_init_finished(&server) == 0) {
        SSL_do_handshake(&client);
        const double began = cpu_microseconds();
        const int done = SSL_do_handshake(&server);
        spent += cpu_microseconds() - began;
        if (done != 1 && SSL_get_error(&server, done) != SSL_ERROR_WANT_READ) {
            bench::fail("a handshake over memory");
        }
    }
}

// Returns what its server spent.
double time_one(SSL_CTX& for_clients, SSL_CTX& for_servers)
{
    session client{SSL_new(&for_clients), SSL_free};
    SSL_set_connect_state(client.get());
    double spent = -cpu_microseconds();
    session server{SSL_new(&for_servers), SSL_free};
    SSL_set_accept_state(server.get());
    spent += cpu_microseconds();
    BIO* of_client = nullptr;
    BIO* of_server = nullptr;
    if (BIO_new_bio_pair(&of_client, 0, &of_server, 0) != 1) {
        bench::fail("a pair of BIOs");
    }
    SSL_set_bio(client.get(), of_client, of_client);
    SSL_set_bio(server.get(), of_server, of_server);
    shake_hands(*client, *server, spent);
    spent -= cpu_microseconds();
    server.reset();
    return spent + cpu_microseconds();
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fputs("usage: handshakes PEM NUMBER\n", stderr);
        return 2;
    }
    const bench::tls_settings servers = bench::server_settings(argv[1]);
    const bench::tls_settings clients = bench::client_settings();
    SSL_CTX_set_num_tickets(servers.get(), 1);  // as the gateway
    const long number = std::atol(argv[2]);
    double spent = 0;
    for (long i = 0; i < number; ++i) {
        spent += time_one(*clients, *servers);
    }
    std::printf("{\"us\": %.1f}\n", spent / static_cast<double>(number));
}
