"""A server that publishes the keys of an issuer of tokens, over TLS, and lies when it is told to."""
import http.server
import json
import threading

from harness.process import wait_until


def key_set(*keys, **headers):
    """The answer of an issuer that has these keys."""
    return 200, json.dumps({"keys": keys}).encode(), headers


class KeyServer:
    """Answers GET with `answer`, a triple of status, bytes and headers, or a function that returns one, behind
    so many `interim` responses. While it is held it answers nobody."""

    def __init__(self, made, answer, name="issuer", port=0):
        self.answer, self.requests, self.interim = answer, [], 0
        self._may_answer = threading.Event()
        self._may_answer.set()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.requests.append(self)
                server._may_answer.wait()
                status, body, headers = server.answer() if callable(server.answer) else server.answer
                try:
                    for _ in range(server.interim):
                        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    for header, value in headers.items():
                        self.send_header(header.replace("_", "-"), value)
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the gateway has read enough

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # of a handshake that the gateway broke off

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"https://127.0.0.1:{self.port}/jwks.json"
        context = made.served(name)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def hold(self):
        self._may_answer.clear()

    def go_on(self):
        self._may_answer.set()

    def fetched(self, times):
        """Returns when it has been asked so often."""
        wait_until(lambda: len(self.requests) >= times, 20, f"{times} fetches of keys")

    def stop(self):
        self.go_on()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
