"""Debian's Apache: virtual hosts in its own words."""
from harness.process import Child, Directory, accepts, tool, wait_until

MODULES = "mpm_event authz_core headers proxy proxy_http".split()
CONFIGURATION = """
ServerName localhost
ServerRoot {prefix}
PidFile {prefix}/pid
DefaultRuntimeDir {prefix}
ErrorLog /dev/stderr
Listen 127.0.0.1:{port}
User nobody
Group nogroup
{modules}
{hosts}
"""


class Apache:
    """Listening on `port` when the constructor returns."""

    def __init__(self, port, hosts):
        self._directory = Directory()
        modules = "\n".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES
        )
        text = CONFIGURATION.format(prefix=self._directory.path, port=port, modules=modules, hosts=hosts)
        path = self._directory.file("apache.conf", text)
        self._child = Child([tool("apache2"), "-f", path, "-D", "FOREGROUND"])
        wait_until(lambda: accepts(port) or not self._child.running(), 10, "Apache listens")
        assert self._child.running(), self._child.lines

    def stop(self):
        self._child.stop()
        self._directory.stop()
