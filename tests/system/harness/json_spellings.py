"""Bodies with a member `model`, as servers may read it otherwise than a gateway does: each piece by itself, then
random ones together."""
import gzip
import json
import random
import string
import zlib

ALPHABET = string.ascii_letters + string.digits

# Bytes that stand for the member, which is its name, a colon and its value.
MEMBER = b"<>"
OTHER = b'"model":"other"'

FRAMES = [
    b"{<>}",
    b" \r\n\t{ <> } \n",
    b'{"x":1,<>}',
    b'{<>,"x":[{"model":"other"},"model"]}',
    b'{"x":{"model":"other"},<>}',
    b"{<>," + OTHER + b"}",
    b"{" + OTHER + b",<>}",
    b'{"model":null,<>}',
    b'{<>,"model":null}',
    b'{"model":{"model":1},<>}',
    rb'{"\u006dodel":"other",<>}',
    rb'{<>,"mode\u006C":"other"}',
    b'{"MODEL":"other",<>}',
    b'{<>,"Model":"other"}',
    b'{"x":1,"x":2,<>}',
    b"[{<>}]",
    b"[[{<>}]]",
    b'{"x":{<>}}',
    b'{"params":{<>}}',
    b'{"__proto__":{<>}}',
    b'{"__proto__":{' + OTHER + b"},<>}",
    b'{"constructor":{"prototype":{<>}}}',
    b"{<>}x",
    b"{<>}}",
    b"{<>}{" + OTHER + b"}",
    b"{" + OTHER + b"}{<>}",
    b"{" + OTHER + b"}\n{<>}",
    b"{<>},",
    b"{<>,}",
    b"{,<>}",
    b"/*x*/{<>}",
    b"//x\n{<>}",
    b"#x\n{<>}",
    b"{/*" + OTHER + b",*/<>}",
    b"{<>/*," + OTHER + b"*/}",
    b"{<>}//x",
    b"{" + OTHER + b"/*,*/,<>/**/}",
    b"\xef\xbb\xbf{<>}",
    b"\xef\xbb\xbf\xef\xbb\xbf{<>}",
    b"\xfe\xff{<>}",
    b"{<>}\xef\xbb\xbf",
    b"\x00{<>}",
    b"{<>}\x00",
    b"{<>}\x00x",
    b"\x0b{<>}",
    b"\x0c{<>}",
    b"\xc2\xa0{<>}",
    b"\xc2\x85{<>}",
    b"\x1e{<>}\n",
    b")]}'\n{<>}",
    b"while(1);{<>}",
    b"callback({<>})",
    b"({<>})",
    b'{"x":NaN,<>}',
    b'{"x":-Infinity,<>}',
    b'{"x":01,<>}',
    b'{"x":+1,<>}',
    b'{"x":.5,<>}',
    b'{"x":5.,<>}',
    b'{"x":0x1,<>}',
    b'{"x":1e999,<>}',
    b'{"x":' + b"9" * 1000 + b",<>}",
    b'{"x":"\t",<>}',
    b'{"x":"\x01",<>}',
    b'{"x":"\n",<>}',
    b'{"x":"\x7f",<>}',
    b'{"x":"\xff",<>}',
    b'{"x":"\xc0\x80",<>}',
    b'{"x":"\xed\xa0\x80",<>}',
    rb'{"x":"\ud800",<>}',
    rb'{"x":"\q",<>}',
    rb'{"x":"\x41",<>}',
    rb'{"x":"\u12",<>}',
    rb"{'x':1,<>}",
    b"{x:1,<>}",
    b'{"x":True,<>}',
    b'{"x":undefined,<>}',
    b'{"x" 1,<>}',
    b'{"x":1 <>}',
    b'{"x":"\\",<>}',
    b'{"x":' + b"[" * 30 + b"]" * 30 + b",<>}",
    b'{"x":' + b"[" * 60 + b"]" * 60 + b",<>}",
    b'{"x":' + b'{"y":' * 60 + b"1" + b"}" * 60 + b",<>}",
    b'{"x":' + b"[" * 600 + b"]" * 600 + b",<>}",
    b"{<>",
    b"<>",
    b'"<>"',
    b"x=1&{<>}",
    b'{"x":"' + b"x" * 60000 + b'",<>}',
    b'{"x":"' + b"x" * 70000 + b'",<>}',
    b'{<>,"x":"' + b"x" * 70000 + b'"}',
    b'{<>,"x":"' + b"x" * 70000 + b'",' + OTHER + b"}",
    b'{<>,"x":"' + b"x" * 70000 + b'"}x',
    b"{" + OTHER + b',"x":"' + b"x" * 70000 + b'",<>}',
    b'{"model":null,"x":"' + b"x" * 70000 + b'",<>}',
]

NAMES = [
    b'"model":',
    b' "model" : ',
    b'\n"model"\t:\r\n',
    rb'"\u006dodel":',
    rb'"\u006D\u006f\u0064\u0065\u006C":',
    rb'"mode\u006c":',
    rb'"m\u006Fdel":',
    b'"MODEL":',
    b'"Model":',
    rb'"model\u0000":',
    rb'"\u0000model":',
    b'"model\x00":',
    b'"model ":',
    b'" model":',
    b'"\xef\xbb\xbfmodel":',
    b'"mo\xc2\xaddel":',
    b'"m\xef\xbd\x8fdel":',
    b'"model\xff":',
    rb'"model\ud800":',
    rb'"\model":',
    rb'"mo\/del":',
    b"model:",
    b"'model':",
    b'"model"=',
    b'"model"=>',
    b'"model":"model":',
    b'"model",',
    b'"params.model":',
    b'"model[]":',
]


def fresh(pick):
    return "".join(pick.choices(ALPHABET, k=12))


def escaped(pick, text, part):
    """As JSON's text, with so many of its characters as \\u."""

    def spelt(c):
        if c not in '"\\' and c >= " " and pick.random() >= part:
            return c
        units = c.encode("utf-16-be")
        number = "".join("\\u" + units[i : i + 2].hex() for i in range(0, len(units), 2))
        return number.upper().replace("\\U", "\\u") if pick.random() < 0.5 else number

    return '"' + "".join(map(spelt, text)) + '"'


def _text(pick, text, part=0.0):
    return escaped(pick, text, part).encode()


def _number(pick):
    return str(pick.randrange(10**6, 2**53))


# Each spells a value that no other has, if `text` is such a one.
VALUES = [
    lambda pick, text: _text(pick, text),
    lambda pick, text: _text(pick, text, 1),
    lambda pick, text: _text(pick, text, 0.4),
    lambda pick, text: _text(pick, text + pick.choice("/\"\\\u00e9\u2028\U0001f600\ufffd\0\x7f"), 0.5),
    lambda pick, text: _text(pick, text)[:-1] + rb'\/"',
    lambda pick, text: _text(pick, text)[:-1] + pick.choice((rb"\ud800", rb"\udc00\ud800", rb"\ud83d\u0041", rb"\udfff")) + b'"',
    lambda pick, text: _text(pick, text)[:-1] + pick.choice((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"\x80")) + b'"',
    lambda pick, text: _text(pick, text)[:-1] + pick.choice((b"\x00", b"\t", b"\n", b"\x1f")) + b'"',
    lambda pick, text: _text(pick, text)[:-1] + pick.choice((rb"\q", rb"\x41", rb"\u41", rb"\u{41}", rb"\'", rb"\0", rb"\v")) + b'"',
    lambda pick, text: b"'" + text.encode() + b"'",
    lambda pick, text: text.encode(),
    lambda pick, text: b"[" + _text(pick, text) + b"]",
    lambda pick, text: b'{"":' + _text(pick, text) + b"}",
    lambda pick, text: _text(pick, text) + b',"model":' + _text(pick, text),
    lambda pick, text: _text(pick, text) + b" + " + _text(pick, "x"),
    lambda pick, text: _text(pick, text + "x" * 5000),
    lambda pick, text: _number(pick).encode(),
    lambda pick, text: b"-" + _number(pick).encode(),
    lambda pick, text: (_number(pick) + pick.choice((".0", ".000", "e0", "E+0", "e-0", "0e-1", ".0e0"))).encode(),
    lambda pick, text: (_number(pick)[:9] + pick.choice(("e3", "E3", ".5e1", "e+3"))).encode(),
    lambda pick, text: str(pick.choice((1, -1)) * (2**53 + 1 + 2 * pick.randrange(10**6))).encode(),
    lambda pick, text: str(2**63 + 1 + 2 * pick.randrange(1000)).encode(),
    lambda pick, text: str(2**64 + 1 + 2 * pick.randrange(1000)).encode(),
    lambda pick, text: _number(pick).encode() * 60,
    lambda pick, text: pick.choice((b"0", b"+", b"0x", b".", b"--")) + _number(pick).encode(),
    lambda pick, text: _number(pick).encode() + pick.choice((b".", b"e", b".e1", b"_0", b"n", b"L")),
    lambda pick, text: (_number(pick) + ".5").encode(),
    lambda pick, text: (_number(pick) + "." + "0" * 30 + "1").encode(),
    lambda pick, text: pick.choice((b"1e400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"0e9")),
    lambda pick, text: pick.choice((b"true", b"false", b"null", b"True", b"TRUE", b"NaN", b"nil", b"undefined")),
]

TYPE = ("Content-Type", "application/json")
# Of a message: fields, and what becomes of its body.
CARRIERS = [
    ([TYPE], lambda body: body),
    ([("Content-Type", "Application/JSON; charset=utf-8")], lambda body: body),
    ([("Content-Type", 'application/json; charset="utf8"')], lambda body: body),
    ([("Content-Type", "application/vnd.api+json")], lambda body: body),
    ([("Content-Type", "application/json;charset=us-ascii")], lambda body: body),
    ([("Content-Type", "application/json; charset=iso-8859-1")], lambda body: body),
    ([("Content-Type", "application/json; charset=utf-7")], lambda body: body),
    ([("Content-Type", "application/json, text/plain")], lambda body: body),
    ([("Content-Type", "application/json; charset=utf-16")], lambda body: body.decode("latin-1").encode("utf-16")),
    ([("Content-Type", "application/json; charset=utf-16le")], lambda body: body.decode("latin-1").encode("utf-16-le")),
    ([("Content-Type", "application/json; charset=utf-32")], lambda body: body.decode("latin-1").encode("utf-32")),
    ([TYPE], lambda body: body.decode("latin-1").encode("utf-16")),
    ([TYPE], lambda body: body.decode("latin-1").encode("utf-16-be")),
    ([TYPE], lambda body: body.decode("latin-1").encode("utf-32")),
    ([("Content-Type", "text/plain")], lambda body: body),
    ([("Content-Type", "application/x-www-form-urlencoded")], lambda body: body),
    ([("Content-Type", "multipart/form-data; boundary=x")], lambda body: body),
    ([("Content-Type", "")], lambda body: body),
    ([], lambda body: body),
    ([("Content-Type", "text/plain"), TYPE], lambda body: body),
    ([TYPE, ("Content-Type", "text/plain")], lambda body: body),
    ([TYPE, ("Content-Encoding", "gzip")], gzip.compress),
    ([TYPE, ("Content-Encoding", "GZIP")], gzip.compress),
    ([TYPE, ("Content-Encoding", "deflate")], zlib.compress),
    ([TYPE, ("Content-Encoding", "identity")], lambda body: body),
    ([TYPE, ("Content-Encoding", "")], lambda body: body),
    ([TYPE, ("Content-Encoding", "identity"), ("Content-Encoding", "gzip")], gzip.compress),
    ([TYPE, ("Content-Encoding", "gzip")], lambda body: body),
    ([TYPE, ("Content-Encoding", "x-unknown")], lambda body: body),
]


def one_of(pick, pieces):
    """Most of the time the first, which is the plain one."""
    return pieces[0] if pick.random() < 0.6 else pick.choice(pieces)


def bodies(seed, count, texts=fresh):
    """(fields, body) of messages; `texts(pick)` are the values."""
    pick = random.Random(f"json {seed}")
    known = [(FRAMES[0], NAMES[0], value, CARRIERS[0]) for value in VALUES for _ in range(4)]
    known += [(frame, NAMES[0], VALUES[0], CARRIERS[0]) for frame in FRAMES]
    known += [(FRAMES[0], name, VALUES[0], CARRIERS[0]) for name in NAMES]
    known += [(frame, NAMES[0], VALUES[0], carrier) for carrier in CARRIERS for frame in FRAMES[:2]]
    mixed = [tuple(one_of(pick, pieces) for pieces in (FRAMES, NAMES, VALUES, CARRIERS)) for _ in range(count)]
    for frame, name, value, (fields, coded) in known + mixed:
        yield fields, coded(frame.replace(MEMBER, name + value(pick, texts(pick))))


def plain(value):
    """The body that says nothing else."""
    return json.dumps({"model": value}).encode()
