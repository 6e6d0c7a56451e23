"""An upstream whose requests end together."""
import threading


class Gate:
    """A script that answers when the gate is open, deaf to whatever happens until then, and counts
    what runs at once."""

    def __init__(self):
        self.open = threading.Event()
        self.inside = 0
        self.most = 0
        self.lock = threading.Lock()

    def __call__(self, peer, request):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.open.wait(30)
        with self.lock:
            self.inside -= 1
        peer.reply(200)
