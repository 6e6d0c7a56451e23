"""Real servers and frameworks that answer with what they read of a request.

Each program in tests/system/backends takes a port and puts into the field X-Read, as JSON, which
handler was reached (login, mount or other), which method that handler is for, and the values of
the query parameter api_key, of the cookie session_id and of the credentials. The lenient ones
ignore letter case and a slash at the end of the paths that PATHS has ("=/login" is one path,
"/api" a prefix), name the path as its handler, and check a password in the body: of a form, which
is answered with 302 or else 200, or of JSON, with 200 or else 401. Those of JSON_BACKENDS say there what
they read of a body: its members `model` and `params.name`.
"""
import os
import subprocess

from harness.browser import MODULES
from harness.process import Child, Directory, accepts, free_port, tool, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "backends")
JARS = "/usr/share/java"
# Debian's, which has Debian's modules.
PYTHON = "/usr/bin/python3"
NODE = {"NODE_PATH": os.pathsep.join([os.environ.get("NODE_PATH", ""), "/usr/share/nodejs"])}
START_SECONDS = 30


def program(name):
    return os.path.join(PROGRAMS, name)


def has_express():
    """It is not in scripts/packages, because Debian's package brings 245 others."""
    words = [tool("node"), "-e", "require('express');require('cookie-parser');require('basic-auth')"]
    done = subprocess.run(words, env=os.environ | NODE, capture_output=True, check=False)
    return done.returncode == 0


class Backend:
    """Listening when the constructor returns. `words(port, directory)` is its command."""

    def __init__(self, words, environment=None):
        self._directory = Directory()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        with open(self._directory.file("stdout"), "wb") as stdout:
            self._child = Child(
                words(str(self.port), self._directory), stdout=stdout, environment=environment
            )
        wait_until(self._listens, START_SECONDS, "the backend listens")

    def _listens(self):
        if not self._child.running():
            raise AssertionError(f"ended at its start: {self._child.lines[-20:]}")
        return accepts(self.port)

    @property
    def diagnostics(self):
        return list(self._child.lines)

    def stop(self):
        self._child.stop()
        self._directory.stop()


def node(name):
    return lambda: Backend(lambda port, _: [tool("node"), program(name), port], NODE)


def python(name):
    return lambda: Backend(lambda port, _: [PYTHON, "-B", program(name), port])


def rack(server):
    return lambda: Backend(lambda port, _: [tool("ruby"), program("rack.rb"), port, server])


def php():
    def words(port, directory):
        for place in (".", "api/login", "graphql"):
            os.makedirs(os.path.join(directory.path, place), exist_ok=True)
            os.symlink(program("php.php"), os.path.join(directory.path, place, "index.php"))
        return [tool("php"), "-n", "-S", f"127.0.0.1:{port}", "-t", directory.path]

    return Backend(words)


# Newer ones have the compiler in a file of its own; Java passes over one that is not there.
COMPILER = ("eclipse-jdt-core.jar", "eclipse-jdt-core-compiler-batch.jar")


def java(name, jars):
    """Compiled by Eclipse's compiler, which Tomcat brings, so that no JDK is needed."""

    def words(port, directory):
        # The options that make it start soonest.
        machine = [tool("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        classes = ":".join(os.path.join(JARS, jar + ".jar") for jar in jars)
        compiler = "org.eclipse.jdt.internal.compiler.batch.Main"
        subprocess.run(
            machine + ["-cp", ":".join(os.path.join(JARS, jar) for jar in COMPILER), compiler]
            + ["-17", "-nowarn", "-proc:none", "-cp", classes, "-d", directory.path]
            + [program(name + ".java")],
            check=True,
        )
        return machine + ["-cp", f"{directory.path}:{classes}", "Backend", port, directory.path]

    return lambda: Backend(words)


TOMCAT = [
    f"tomcat10-{part}"
    for part in ("catalina", "coyote", "util", "util-scan", "juli", "jni", "api", "servlet-api")
    + ("annotations-api", "jaspic-api", "el-api", "jsp-api")
]
JETTY = [f"jetty9-{part}" for part in ("server", "servlet", "security", "util", "http", "io")]

BACKENDS = {
    "node_url": node("node_url.js"),
    "node_legacy": node("node_legacy.js"),
    "express": node("express.js"),
    "django": python("django_app.py"),
    "werkzeug": python("werkzeug_app.py"),
    "php": php,
    "rack_puma": rack("puma"),
    "rack_webrick": rack("webrick"),
    "tomcat": java("Tomcat", TOMCAT),
    "jetty": java("Jetty", JETTY + ["jetty9-util-ajax", "servlet-api"]),
}


LENIENT_BACKENDS = {
    "express": lambda port: [tool("node"), program("lenient.js"), port],
    "django": lambda port: [PYTHON, "-B", program("lenient_django.py"), port],
    "php": lambda port: [tool("php"), "-n", "-S", f"127.0.0.1:{port}", program("lenient.php")],
}


def lenient(name, paths):
    words = LENIENT_BACKENDS[name]
    return Backend(lambda port, _: words(port), NODE | {"PATHS": " ".join(paths)})


JSON_BACKENDS = {
    "express": lambda port: [tool("node"), program("json_express.js"), port],
    "django": lambda port: [PYTHON, "-B", program("json_django.py"), port],
    "php": lambda port: [tool("php"), "-n", "-S", f"127.0.0.1:{port}", program("json_body.php")],
    "rack": lambda port: [tool("ruby"), program("json_rack.rb"), port],
}


def reader_of_json(name):
    words = JSON_BACKENDS[name]
    return Backend(lambda port, _: words(port), {"NODE_PATH": os.environ.get("NODE_PATH", MODULES)})


def missing(name):
    """Why a backend cannot run here; None if it can."""
    if name == "express" and not has_express():
        return "no express: apt-get install node-express node-cookie-parser node-basic-auth"
    return None
