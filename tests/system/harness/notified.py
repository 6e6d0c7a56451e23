"""A service manager as far as sd_notify(3) goes: what the process says, message by message."""
import socket

from harness.process import PATIENCE, Directory


class NotifySocket:
    def __init__(self):
        self._directory = Directory()
        self.path = self._directory.file("notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.settimeout(10 * PATIENCE)

    def environment(self):
        return {"NOTIFY_SOCKET": self.path}

    def next(self):
        """The next message, as a mapping."""
        text = self._socket.recv(4096).decode("utf-8")
        return dict(line.split("=", 1) for line in text.splitlines())

    def stop(self):
        self._socket.close()
        self._directory.stop()
