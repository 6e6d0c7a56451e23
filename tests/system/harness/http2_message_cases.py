"""Rules of RFC 9113 §8 for messages, and of RFC 7541 for their fields. Rows with /bad must not reach an
origin, those with /cut not whole."""
from harness.http2 import COMPRESSION_ERROR, END_HEADERS, END_STREAM, HEADERS, PROTOCOL_ERROR, frame
from harness.http2_cases import (
    Answers,
    Case,
    answered,
    block,
    data,
    fails,
    head,
    integer,
    literal,
    octets,
    open_head,
    pseudo,
    raw_head,
    resets,
)

GOOD = block(pseudo())
BAD = block(pseudo("/bad"))
REQUEST = pseudo("/bad")


def malformed(section, title, fields, *codes):
    return Case(section, title, head(fields), resets(*(codes or (PROTOCOL_ERROR,))))


def with_field(name, value):
    return [*REQUEST, (name, value)]


def in_trailers(title, *fields):
    return Case("8.1", f"trailers with {title}", open_head(path="/cut") + head(list(fields)), resets(PROTOCOL_ERROR))


def with_length(title, length, *content, trailers=()):
    """A message whose content contradicts its length."""
    frames = b"".join(data(c, end=i == len(content) - 1 and not trailers) for i, c in enumerate(content))
    sent = open_head(path="/cut", more=[("content-length", length)]) + frames
    return Case("8.1.1", title, sent + (head(list(trailers)) if trailers else b""), resets(PROTOCOL_ERROR))


MESSAGES = [
    Case(
        "8.1", "a second HEADERS without END_STREAM",
        open_head(path="/cut") + head([("x-a", "b")], flags=END_HEADERS),
        resets(PROTOCOL_ERROR),
    ),
    Case("8.1", "trailers", open_head() + data(b"x") + head([("x-a", "b")]), Answers()),
    Case("8.1", "trailers without content", open_head() + head([("x-a", "b")]), Answers()),
    in_trailers("a pseudo-field", (":method", "GET")),
    in_trailers("an unknown pseudo-field", (":x", "GET")),
    in_trailers("a capital", ("X-A", "b")),
    in_trailers("connection", ("connection", "close")),
    in_trailers("transfer-encoding", ("transfer-encoding", "chunked")),
    in_trailers("a line break", ("x-a", "b\r\nc: d")),
    with_length("less than content-length", "5", b"abc"),
    with_length("more than content-length", "2", b"abc"),
    with_length("more, in two frames", "4", b"abc", b"abc"),
    # The whole of it has been passed on before it is contradicted.
    Case(
        "8.1.1", "content although content-length is 0",
        open_head(more=[("content-length", "0")]) + data(b"a"),
        resets(PROTOCOL_ERROR),
    ),
    with_length("less, before trailers", "5", b"abc", trailers=[("x-a", "b")]),
    malformed("8.1.1", "content-length and no content", with_field("content-length", "1")),
    malformed("8.1.1", "content-length that is no number", with_field("content-length", "x")),
    malformed("8.1.1", "a negative content-length", with_field("content-length", "-1")),
    malformed("8.1.1", "content-length with a sign", with_field("content-length", "+0")),
    malformed("8.1.1", "an empty content-length", with_field("content-length", "")),
    malformed("8.1.1", "content-length above 2^63", with_field("content-length", "99999999999999999999")),
    malformed("8.1.1", "two content-lengths", [*REQUEST, ("content-length", "0"), ("content-length", "0")]),
    malformed(
        "8.1.1", "two content-lengths that differ",
        [*REQUEST, ("content-length", "0"), ("content-length", "1")],
    ),
    malformed("8.2", "a capital", with_field("X-Test", "1")),
    malformed("8.2", "one capital", with_field("x-tesT", "1")),
    malformed("8.2.1", "a name with a space", with_field("x a", "1")),
    malformed("8.2.1", "a name that begins with a space", with_field(" x", "1")),
    malformed("8.2.1", "a name that ends with a space", with_field("x ", "1")),
    malformed("8.2.1", "a name with a tab", with_field("x\ta", "1")),
    malformed("8.2.1", "a name with NUL", with_field("x\0", "1")),
    malformed("8.2.1", "a name with CR LF", with_field("x\r\ny", "1")),
    malformed("8.2.1", "a name with DEL", with_field("x\x7f", "1")),
    malformed("8.2.1", "a name above 0x7F", with_field("x\xe9", "1")),
    malformed("8.2.1", "a name with a colon", with_field("x:y", "1")),
    malformed("8.2.1", "a name with a slash", with_field("x/y", "1")),
    malformed("8.2.1", "a name with a comma", with_field("x,y", "1")),
    malformed("8.2.1", "an empty name", with_field("", "1")),
    malformed("8.2.1", "a value with NUL", with_field("x-a", "a\0b")),
    malformed("8.2.1", "a value with LF", with_field("x-a", "a\nb: c")),
    malformed("8.2.1", "a value with CR", with_field("x-a", "a\rb")),
    malformed("8.2.1", "a value with a control byte", with_field("x-a", "a\x01b")),
    malformed("8.2.1", "a value with DEL", with_field("x-a", "a\x7fb")),
    malformed("8.2.1", "a value that begins with a space", with_field("x-a", " b")),
    malformed("8.2.1", "a value that ends with a space", with_field("x-a", "b ")),
    malformed("8.2.1", "a value that begins with a tab", with_field("x-a", "\tb")),
    malformed("8.2.1", "a value that ends with a tab", with_field("x-a", "b\t")),
    malformed("8.2.1", "a value that is a space", with_field("x-a", " ")),
    Case("8.2.1", "an empty value", head([*pseudo(), ("x-a", "")]), Answers()),
    Case(
        "8.2.1", "a value with bytes above 0x7F, spaces and tabs inside",
        head([*pseudo(), ("x-a", "\xe9 \t\xff")]),
        Answers(),
    ),
    malformed("8.2.2", "connection", with_field("connection", "close")),
    malformed("8.2.2", "an empty connection", with_field("connection", "")),
    malformed("8.2.2", "keep-alive", with_field("keep-alive", "timeout=1")),
    malformed("8.2.2", "proxy-connection", with_field("proxy-connection", "close")),
    malformed("8.2.2", "transfer-encoding", with_field("transfer-encoding", "chunked")),
    malformed(
        "8.2.2", "transfer-encoding beside content-length",
        [*REQUEST, ("content-length", "0"), ("transfer-encoding", "chunked")],
    ),
    malformed("8.2.2", "upgrade", with_field("upgrade", "h2c")),
    malformed("8.2.2", "te of gzip", with_field("te", "gzip")),
    malformed("8.2.2", "te of trailers and more", with_field("te", "trailers, gzip")),
    malformed("8.2.2", "te of trailers with a weight", with_field("te", "trailers;q=0.5")),
    malformed("8.2.2", "an empty te", with_field("te", "")),
    Case("8.2.2", "te of trailers", head([*pseudo(), ("te", "trailers")]), Answers()),
    malformed("8.3", "an unknown pseudo-field", with_field(":test", "1")),
    malformed("8.3", "an empty pseudo-field", with_field(":", "1")),
    malformed("8.3", "a pseudo-field of responses", with_field(":status", "200")),
    malformed("8.3", "a pseudo-field behind a field", [*REQUEST[:3], ("x-a", "b"), REQUEST[3]]),
    malformed("8.3", "a pseudo-field with a capital", [(":Method", "GET"), *REQUEST[1:]]),
    *[malformed("8.3", f"{REQUEST[i][0]} twice", [*REQUEST, REQUEST[i]]) for i in range(4)],
    malformed("8.3.1", "no :method", REQUEST[1:]),
    malformed("8.3.1", "no :scheme", [REQUEST[0], *REQUEST[2:]]),
    malformed("8.3.1", "no :path", REQUEST[:3]),
    malformed("8.3.1", "no pseudo-field", [("x-a", "b")]),
    malformed("8.3.1", "no field at all", []),
    malformed("8.3.1", "an empty :path", pseudo("")),
    malformed("8.3.1", "a :path that is a URI", pseudo("http://gateway.test/bad")),
    malformed("8.3.1", "a :path without a slash", pseudo("bad")),
    malformed("8.3.1", "a :path with a space", pseudo("/bad HTTP/1.1")),
    malformed("8.3.1", "a :path with a line break", pseudo("/bad\r\nx: y")),
    malformed("8.3.1", "a :path with NUL", pseudo("/bad\0")),
    malformed("8.3.1", "* of a GET", pseudo("*")),
    malformed("8.3.1", "an empty :method", pseudo("/bad", "")),
    malformed("8.3.1", "a :method with a space", pseudo("/bad", "GET /x")),
    malformed("8.3.1", "a :method with a line break", pseudo("/bad", "GET\r\n")),
    malformed("8.3.1", "an empty :scheme", pseudo("/bad", scheme="")),
    malformed("8.3.1", "a :scheme with a space", pseudo("/bad", scheme="ht tp")),
    malformed("8.3.1", "a :scheme with a line break", pseudo("/bad", scheme="http\r\nx: y")),
    malformed("8.3.1", "an :authority with a space", pseudo("/bad", authority="a b")),
    malformed("8.3.1", "an :authority with a line break", pseudo("/bad", authority="a\r\nx: y")),
    malformed("8.3.1", "an :authority and another host", with_field("host", "other.test")),
    malformed("8.3.1", "an :authority and an empty host", with_field("host", "")),
    malformed(
        "8.3.1", "an :authority and two hosts",
        [*REQUEST, ("host", "gateway.test"), ("host", "gateway.test")],
    ),
    malformed(
        "8.3.1", "two hosts and no :authority",
        [*pseudo("/bad", authority=None), ("host", "a.test"), ("host", "gateway.test")],
    ),
    Case("8.3.1", "an :authority and the same host", head([*pseudo(), ("host", "gateway.test")]), Answers()),
    Case("8.3.1", "a host and no :authority", head([*pseudo(authority=None), ("host", "gateway.test")]), Answers()),
    Case("8.3.1", "neither", head(pseudo("/bad", authority=None)), (Answers(400), resets(PROTOCOL_ERROR))),
    Case("8.3.1", "an empty :authority", head(pseudo("/bad", authority="")), (Answers(400), resets(PROTOCOL_ERROR))),
    Case(
        "8.3.1", "an :authority with userinfo",
        head(pseudo("/bad", authority="u@gateway.test")),
        (Answers(400), resets(PROTOCOL_ERROR)),
    ),
    malformed("8.5", "CONNECT with a :path", [(":method", "CONNECT"), (":authority", "a:1"), (":path", "/bad")]),
    malformed("8.5", "CONNECT with a :scheme", [(":method", "CONNECT"), (":authority", "a:1"), (":scheme", "http")]),
    malformed("8.5", "CONNECT without an :authority", [(":method", "CONNECT")]),
    malformed("8441 4", ":protocol of a GET", with_field(":protocol", "websocket")),
    malformed(
        "8441 4", "an extended CONNECT without :path",
        [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", "g.test")],
    ),
    malformed(
        "8441 4", "an extended CONNECT without :scheme",
        [(":method", "CONNECT"), (":protocol", "websocket"), (":path", "/bad"), (":authority", "g.test")],
    ),
    malformed(
        "8441 4", ":protocol twice",
        [*pseudo("/bad", "CONNECT"), (":protocol", "websocket"), (":protocol", "websocket")],
    ),
]


def hpack(section, title, tail):
    return Case(f"hpack {section}", title, raw_head(tail), fails(COMPRESSION_ERROR))


HUFFMAN = 0x80
HPACK = [
    hpack("2.3.3", "an index behind the tables", integer(70, 7, 0x80)),
    hpack("2.3.3", "the index 62 of an empty table", integer(62, 7, 0x80)),
    hpack("2.3.3", "a name's index behind the tables", integer(70, 6, 0x40) + octets("x")),
    hpack("2.3.3", "a name's index behind the tables, not indexed", integer(70, 4) + octets("x")),
    hpack("2.3.3", "a name's index behind the tables, never indexed", integer(70, 4, 0x10) + octets("x")),
    hpack("4.2", "a size update behind a field", b"\x20"),
    hpack("5.1", "an integer without an end", b"\xff" + b"\x80" * 20),
    hpack("5.1", "an integer of 2^32", b"\xff\x80\x80\x80\x80\x10"),
    hpack("5.1", "an integer that is cut", b"\xff"),
    hpack("5.2", "a name that is cut", b"\x00" + integer(10, 7) + b"x"),
    hpack("5.2", "a value that is cut", b"\x00" + octets("x-a") + integer(10, 7) + b"x"),
    hpack("5.2", "a value without a length", b"\x00" + octets("x-a")),
    hpack("5.2", "Huffman padding of more than 7 bits", b"\x00" + octets("x-a") + bytes([HUFFMAN | 2]) + b"\x1f\xff"),
    hpack("5.2", "Huffman padding of a whole octet", b"\x00" + octets("x-a") + bytes([HUFFMAN | 1]) + b"\xff"),
    hpack("5.2", "Huffman padding that is not of ones", b"\x00" + octets("x-a") + bytes([HUFFMAN | 1]) + b"\x18"),
    hpack("5.2", "EOS in a Huffman string", b"\x00" + octets("x-a") + bytes([HUFFMAN | 4]) + b"\xff\xff\xff\xff"),
    hpack("5.2", "EOS in a Huffman name", b"\x00" + bytes([HUFFMAN | 4]) + b"\xff\xff\xff\xff" + octets("x")),
    hpack("6.1", "the index 0", b"\x80"),
    Case(
        "hpack 6.3", "a size update above the limit",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, integer(4097, 5, 0x20) + BAD),
        fails(COMPRESSION_ERROR),
    ),
    Case(
        "hpack 6.3", "a size update far above the limit",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, integer(2**31, 5, 0x20) + BAD),
        fails(COMPRESSION_ERROR),
    ),
    Case(
        "hpack 6.3", "size updates in front",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, integer(0, 5, 0x20) + integer(4096, 5, 0x20) + GOOD),
        Answers(),
    ),
    Case(
        "hpack 6.2", "every literal",
        raw_head(literal("x-a", "b", 0x40) + literal("x-b", "c", 0x10) + literal("x-c", "d")
        + integer(62, 7, 0x80), path="/good"),
        Answers(),
    ),
    Case(
        "hpack 6.2", "Huffman",
        raw_head(b"\x00" + octets("x-a") + bytes([HUFFMAN | 1]) + b"\x1f", path="/good"),
        Answers(),
    ),
    Case(
        "hpack 4.4", "a field larger than the table empties it",
        raw_head(literal("x-a", "b", 0x40) + literal("x-b", "c" * 4100, 0x40) + integer(62, 7, 0x80)),
        fails(COMPRESSION_ERROR),
    ),
    Case(
        "hpack 4.3", "a size update of 0 empties the table",
        (
            raw_head(literal("x-a", "b", 0x40), path="/good"),
            answered(),
            frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\x20" + BAD + integer(62, 7, 0x80)),
        ),
        fails(COMPRESSION_ERROR),
    ),
    Case(
        "hpack 2.2", "a refused request keeps the tables in step",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, BAD + literal("X-Upper", "1")
        + literal("x-kept", "v", 0x40)) + frame(HEADERS, END_HEADERS | END_STREAM, 3, GOOD + integer(62, 7, 0x80)),
        Answers(stream=3),
    ),
]
