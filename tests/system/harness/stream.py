"""A viewer of the admin API's stream of server-sent events, over a plain connection."""
import json

from harness.client import Connection
from harness.process import wait_until


class Viewer:
    """Reads the head at once. `token` and `seen` are what its request says."""

    def __init__(self, gateway, token=None, seen=None, **options):
        self._connection = Connection(gateway.admin, **options)
        headers = [("Accept", "text/event-stream")]
        headers += [("Authorization", f"Bearer {token}")] if token else []
        headers += [("Last-Event-ID", seen)] if seen else []
        self._connection.request("/v1/stream", headers)
        self.head = self._connection.head()
        self.state = {}
        self.ids = []
        self.events = []
        self.rejections = []

    def next(self):
        """The next event, as JSON. Its state is added to what was known."""
        while True:
            fields = {}
            for line in self._connection.read_until(b"\n\n").decode().splitlines():
                name, _, value = line.partition(": ")
                fields[name] = value
            if "data" in fields:
                break
        event = json.loads(fields["data"])
        self.ids.append(fields["id"])
        self.events.append(event)
        self.state |= event.get("state", {})
        self.rejections += event.get("rejections", [])
        return event

    def until(self, condition, seconds=15):
        """Reads events until `condition(self)` is true, and returns its value."""
        def enough():
            found = condition(self)
            if not found:
                self.next()
            return found or condition(self)

        return wait_until(enough, seconds, f"the stream says so: {self.state}")

    def finding(self, cause, **of):
        """The finding of that cause, as soon as there is one, within three seconds."""
        def found(viewer):
            return next((f for f in viewer.state.get("findings", ()) if f["cause"] == cause
                         and all(f.get(k) == v for k, v in of.items())), None)

        return self.until(found, 6)

    def stop(self):
        self._connection.close()
