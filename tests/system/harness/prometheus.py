"""Debian's prometheus, scraping one gateway."""
import json
import urllib.parse

from harness.client import get
from harness.process import Child, Directory, accepts, free_port, tool, wait_until

CONFIGURATION = """
global: {{ scrape_interval: 200ms, scrape_timeout: 200ms }}
scrape_configs:
  - job_name: gateway
    static_configs: [ {{ targets: ["{host}:{port}"] }} ]
"""


class Prometheus:
    def __init__(self, admin, *flags):
        self._directory = Directory()
        self.address = ("127.0.0.1", free_port())
        path = self._directory.file(
            "prometheus.yml", CONFIGURATION.format(host=admin[0], port=admin[1])
        )
        self._child = Child(
            [
                tool("prometheus"),
                f"--config.file={path}",
                f"--storage.tsdb.path={self._directory.file('data')}",
                f"--web.listen-address=127.0.0.1:{self.address[1]}",
                "--log.level=warn",
                *flags,
            ]
        )
        wait_until(lambda: accepts(self.address[1]), 20, "prometheus listens")

    def api(self, path):
        answer = get(self.address, "/api/v1/" + path)
        return json.loads(answer.body)["data"] if answer.status == 200 else None

    def query(self, expression):
        """The samples of an instant query: [({labels}, value)]."""
        data = self.api("query?query=" + urllib.parse.quote(expression))
        return [(row["metric"], float(row["value"][1])) for row in data["result"]] if data else []

    def stop(self):
        self._child.stop()
        self._directory.stop()
