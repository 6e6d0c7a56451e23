"""JSON Web Tokens by others than us: HS256 by Python, the rest by Node.js."""
import base64
import hashlib
import hmac
import json
import os
import subprocess

from harness.process import Child, tool

HERE = os.path.dirname(os.path.abspath(__file__))
ALGORITHMS = ("HS256", "RS256", "ES256", "EdDSA")


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def part(value):
    return encoded(json.dumps(value).encode())


def hs256(secret, header, payload):
    text = part(header) + "." + part(payload)
    return text + "." + encoded(hmac.digest(secret, text.encode(), hashlib.sha256))


class Script:
    """Node runs it; it answers each line of JSON with one."""

    def __init__(self, name):
        words = [tool("node"), os.path.join(HERE, name)]
        self._child = Child(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **question):
        self._child.stdin.write(json.dumps(question).encode() + b"\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())

    def stop(self):
        self._child.stdin.close()
        self._child.stop()
        self._child.stdout.close()


class Issuer:
    """Has one key of each algorithm that was made last."""

    def __init__(self):
        self._secret = None
        self._script = Script("token_issuer.js")

    def make_key(self, algorithm, **members):
        """The JSON Web Key that verifies, with these members."""
        if algorithm == "HS256":
            self._secret = os.urandom(32)
            return {"kty": "oct", "k": encoded(self._secret), **members}
        return self._script.ask(make=algorithm) | members

    def token(self, algorithm, header=(), **claims):
        header = {"typ": "JWT", "alg": algorithm} | dict(header)
        if algorithm == "HS256":
            return hs256(self._secret, header, claims)
        return self._script.ask(sign=algorithm, header=header, payload=claims)

    def stop(self):
        self._script.stop()


def has_jose():
    """npm's package, in a directory that NODE_PATH names."""
    found = subprocess.run([tool("node"), "-e", "require.resolve('jose')"], capture_output=True, check=False)
    return found.returncode == 0


class JoseIssuer:
    """All by npm's package jose: keys, tokens, and whether a token is good. Has one key of each
    algorithm that was made last."""

    def __init__(self):
        self._script = Script("jose_issuer.js")

    def make_key(self, algorithm):
        return self._script.ask(make=algorithm)

    def token(self, algorithm, header=(), **claims):
        return self._script.ask(sign=algorithm, header={"alg": algorithm} | dict(header), payload=claims)

    def believes(self, algorithm, token):
        return self._script.ask(verify=token, alg=algorithm)

    def stop(self):
        self._script.stop()
