"""Accepts connections for servers that a test writes itself."""
import contextlib
import socket
import threading


def accepted(listening):
    """Yields each connection, until the socket is shut down."""
    while True:
        try:
            connected, _ = listening.accept()
        except OSError:
            return
        yield connected


class Listener:
    """Calls `serve(socket)` for each connection, on a thread of its own."""

    def __init__(self, serve):
        self._serve = serve
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        for connected in accepted(self._listening):
            threading.Thread(target=self._answer, args=(connected,), daemon=True).start()

    def _answer(self, connected):
        with connected, contextlib.suppress(OSError):
            self._serve(connected)

    def stop(self):
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


class FullListener:
    """Leaves every new connection waiting: its queue is full, and nobody accepts."""

    def __init__(self):
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=0)
        address = self._listening.getsockname()
        self.address = f"{address[0]}:{address[1]}"
        self._waiting = []
        while not self._is_full(address):
            pass

    def _is_full(self, address):
        try:
            self._waiting.append(socket.create_connection(address, timeout=0.5))
            return False
        except TimeoutError:
            return True

    def stop(self):
        for each in (*self._waiting, self._listening):
            each.close()
