"""Requests made from a seed, alone and in pipelines: plain ones, odd ones that any reader must
take, and broken ones that a proxy must not forward."""
import random

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND")

SUFFIXES = (
    "",
    "?",
    "?a=b&c=%20",
    "/%2F%41",
    "//",
    ";v=1",
    "/~x!$&'()*+,:@",
    "?/?//",
    "/%C3%A9",
    "/./x",
)

VALUES = (
    b"x",
    b"",
    b"  \t padded \t ",
    b"a, b;q=0.5, \"c\\\"d\"",
    b"caf\xe9 \xf0\x9f\x8e\x88",
    b"GET /inner HTTP/1.1",
    b"chunked",
    b"0",
    b"v" * 3000,
    b":",
)

LOOKS_LIKE_A_REQUEST = b"GET /never-sent HTTP/1.1\r\nHost: h\r\n\r\n"

# Heads that are broken, from behind the method on; %b is the target.
LINES = (
    b" %b HTTP/1.1\nHost: h\r\n",
    b"  %b HTTP/1.1\r\nHost: h\r\n",
    b"\t%b HTTP/1.1\r\nHost: h\r\n",
    b" %b HTTP/1.1 \r\nHost: h\r\n",
    b" %b x HTTP/1.1\r\nHost: h\r\n",
    b" %b HTTP/1.2\r\nHost: h\r\n",
    b" %b HTTP/2.0\r\nHost: h\r\n",
    b" %b http/1.1\r\nHost: h\r\n",
    b" %b\r\nHost: h\r\n",
    b" %b#x HTTP/1.1\r\nHost: h\r\n",
    b" %b\xe9 HTTP/1.1\r\nHost: h\r\n",
    b" %b\x00 HTTP/1.1\r\nHost: h\r\n",
    b" http://u:p@h%b HTTP/1.1\r\nHost: h\r\n",
    b" x%b HTTP/1.1\r\nHost: h\r\n",
    b" %b HTTP/1.1\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nHost: h\r\n",
    b" %b HTTP/1.1\r\nHost: h, i\r\n",
    b" %b HTTP/1.1\r\n Host: h\r\nHost: h\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX : y\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\n: y\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX: y\r\n folded\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX: y\r\n\tContent-Length: 5\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX: y\rContent-Length: 5\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX: y\nContent-Length: 5\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX: \x00\r\n",
    b" %b HTTP/1.1\r\nHost: h\r\nX(y): z\r\n",
)

FRAMINGS = (
    b"Content-Length: 5\r\nContent-Length: 5\r\n",
    b"Content-Length: 5\r\nContent-Length: 0\r\n",
    b"Content-Length: 5, 5\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: -5\r\n",
    b"Content-Length: 0x5\r\n",
    b"Content-Length: 5 5\r\n",
    b"Content-Length:\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
    b"Transfer-Encoding: chunked, chunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: xchunked\r\n",
    b"Transfer-Encoding: chunked;x=y\r\n",
    b"Transfer-Encoding: \x0bchunked\r\n",
    b"Transfer-Encoding: \"chunked\"\r\n",
    b"Transfer-Encoding:\r\n",
)

CHUNKS = (
    b"5x\r\nhello\r\n0\r\n\r\n",
    b"+5\r\nhello\r\n0\r\n\r\n",
    b"0x5\r\nhello\r\n0\r\n\r\n",
    b" 5\r\nhello\r\n0\r\n\r\n",
    b"\r\nhello\r\n0\r\n\r\n",
    b"5\nhello\r\n0\r\n\r\n",
    b"5\r\nhello0\r\n\r\n",
    b"5\r\nhello!\r\n0\r\n\r\n",
    b"5\r\nhello\n0\r\n\r\n",
    b"5;a=\n\r\nhello\r\n0\r\n\r\n",
    b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
    b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhello\r\n0\r\nX : y\r\n\r\n",
    b"5\r\nhello\r\n0\r\n x: y\r\n\r\n",
    b"5\r\nhello\r\n0\r\n\n",
)


class Sent:
    """One request: its bytes, and, unless it is broken, what a reader must make of them."""

    def __init__(self, text, method="", target="", fields=(), body=b""):
        self.text = text
        self.method, self.target, self.fields, self.body = method, target, list(fields), body
        self.broken = not method


class Pipelines:
    def __init__(self, seed):
        self._random = random.Random(seed)

    def next(self, number):
        """Requests for one connection; the last one that can be answered ends it."""
        count = self._random.randint(1, 7)
        broken = self._random.randrange(count) if self._random.random() < 0.5 else None
        return [
            self._broken(f"/{number}/{i}")
            if i == broken
            else self._good(f"/{number}/{i}", i == count - 1)
            for i in range(count)
        ]

    def pieces(self, text):
        """Splits anywhere."""
        count = self._random.choice((0, 1, 5, 30))
        cuts = sorted(self._random.randrange(len(text) + 1) for _ in range(count))
        return [text[a:b] for a, b in zip([0] + cuts, cuts + [len(text)]) if a < b]

    def _good(self, path, last):
        r = self._random
        method, target = r.choice(METHODS), path + r.choice(SUFFIXES)
        body, framing, framed = self._body()
        count = r.choice((0, 1, 2, 8))
        fields = [(self._spelled(f"X-Field-{i}"), r.choice(VALUES)) for i in range(count)]
        lines = [self._spelled("Host") + b":" + r.choice((b"", b" ", b"\t ")) + b"h"]
        lines += [name + b":" + value for name, value in fields]
        lines += framing
        if last:
            lines.append(b"Connection: close")
        elif r.random() < 0.2:
            lines.append(b"Connection: X-Hop, keep-alive\r\nX-Hop: Content-Length")
        r.shuffle(lines)
        form = b"http://h" if r.random() < 0.1 else b""
        text = b"\r\n" * r.choice((0, 0, 0, 1, 3))
        text += b"%b %b HTTP/1.1\r\n" % (method.encode(), form + target.encode())
        text += b"".join(line + b"\r\n" for line in lines) + b"\r\n" + framed
        order = sorted(fields, key=lambda f: lines.index(f[0] + b":" + f[1]))
        return Sent(text, method, target, [(n, v.strip(b" \t")) for n, v in order], body)

    def _body(self):
        """(the body, lines of its framing, the body as it is sent)."""
        r = self._random
        kind = r.choice(("none", "none", "length", "chunked"))
        if kind == "none":
            return b"", [], b""
        noise = r.randbytes(r.choice((1, 80, 9000)))
        body = r.choice((b"", b"0\r\n\r\n", LOOKS_LIKE_A_REQUEST, noise))
        if kind == "length":
            zeros = b"0" * r.choice((0, 0, 3))
            return body, [self._spelled("Content-Length") + b": %b%d" % (zeros, len(body))], body
        name = self._spelled("Transfer-Encoding")
        return body, [name + b": " + self._spelled("chunked")], self._chunked(body)

    def _chunked(self, body):
        r, text = self._random, b""
        extensions = (b"", b"", b";a", b";a=b", b" ; a = \"b;\\\"c\"", b";" + b"e" * 500)
        while body:
            piece, body = body[: (size := r.choice((1, 7, 4000)))], body[size:]
            digits = r.choice((b"%x", b"%X", b"000%x")) % len(piece)
            text += digits + r.choice(extensions) + b"\r\n" + piece + b"\r\n"
        trailers = (b"", b"", b"X-Trailer: t\r\n", b"Content-Length: 7\r\nX: y\r\n")
        text += r.choice((b"0", b"000")) + r.choice(extensions) + b"\r\n"
        return text + r.choice(trailers) + b"\r\n"

    def _broken(self, path):
        r = self._random
        method = r.choice((b"GET", b"POST"))
        kind = r.choice(("line", "framing", "chunks"))
        start = b" %b HTTP/1.1\r\nHost: h\r\n" % path.encode()
        if kind == "line":
            return Sent(method + r.choice(LINES).replace(b"%b", path.encode()) + b"\r\n")
        if kind == "framing":
            return Sent(method + start + r.choice(FRAMINGS) + b"\r\nhello")
        return Sent(method + start + b"Transfer-Encoding: chunked\r\n\r\n" + r.choice(CHUNKS))

    def _spelled(self, name):
        spell = self._random.choice((str.lower, str.upper, str.title, str.swapcase))
        return spell(name).encode()
