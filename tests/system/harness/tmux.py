"""A terminal of a given size in tmux, and the program that runs in it."""
import os
import shlex
import subprocess

from harness.process import Directory, tool, wait_until


class Terminal:
    def __init__(self, words, width=80, height=24, environment=None):
        self._directory = Directory()
        self._socket = os.path.join(self._directory.path, "socket")
        line = shlex.join(["env", *(f"{k}={v}" for k, v in (environment or {}).items()), *words])
        # What it says at its end stays to be read.
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                   f"{line}; echo ended with $?; sleep 1000")

    def _tmux(self, *words):
        done = subprocess.run(
            [tool("tmux"), "-S", self._socket, *words], capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    def screen(self, colours=False):
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else [])).rstrip("\n")

    def keys(self, *names):
        self._tmux("send-keys", *names)

    def resize(self, width, height):
        self._tmux("set-option", "-g", "window-size", "manual")
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def shows(self, *texts, seconds=15):
        """The screen, as soon as it has all these texts."""
        def enough():
            screen = self.screen()
            return screen if all(t in screen for t in texts) else None

        try:
            return wait_until(enough, seconds)
        except AssertionError:
            raise AssertionError(f"no {texts} on:\n{self.screen()}") from None

    def stop(self):
        subprocess.run([tool("tmux"), "-S", self._socket, "kill-server"], capture_output=True, check=False)
        self._directory.stop()
