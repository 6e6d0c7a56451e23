"""Spellings of a query parameter, a cookie and credentials.

Each comes as a pair of what a request carries: the plain spelling of a fresh value, and another
that some server may read as the same. First every piece by itself, then random ones together.
"""
import base64
import random
import string

from harness.spellings import escaped

ALPHABET = string.ascii_letters + string.digits

QUERY_NAMES = """api_key api%5Fkey %61pi_key api.key api%2Ekey api[key api%5Bkey api+key api%20key
+api_key %20api_key %20%20api.key api_key%00 api_key%00x api_key[] api_key[0] api_key[x]
api_key%5B%5D api_key%5b%5d api_key[][x] [api_key] API_KEY Api_Key api_key+ api_key%20 api_key[ %09api_key api_key%5B
api_key[]] api_key] api_key[x%00 api%00_key %00api_key ?api_key %3Fapi_key amp;api_key %FFapi_key""".split()

# {} is one of the names, with the value.
QUERIES = """{} x=1&{} x=1;{} {};x=1 {};x x=1;;{} ;{} &{} &&{} {}& {}&x {}&x=1 ?{} x?{} x&amp;{}
x%26{} x=1%3B{} x=1,{} api_key&{} api_key=&{} {}&api_key= {}&api_key api_key=other&{}
{}&api_key=other ;api_key=other&{} x=1;api_key=other&{} api_key=other;{} {};api_key=other x=%&{}
x=%zz&{} =x&{} ==&{} x=a=b&{}""".split()

COOKIE_NAMES = [
    "session_id",
    "session%5Fid",
    "%73ession_id",
    "session.id",
    "session%2Eid",
    "session[id",
    "session id",
    "session+id",
    "session%20id",
    "+session_id",
    "%20session_id",
    "session_id[]",
    "session_id[x]",
    "session_id%5B%5D",
    "session_id%00",
    "session_id%00x",
    "SESSION_ID",
    "Session_Id",
    "session_id ",
    "session_id\t",
    "session_id+",
    '"session_id"',
    "$session_id",
    "\xa0session_id",
    "session_id\xa0",
    "\xc2\xa0session_id",
    "session_id\xc2\xa0",
    "\xe3\x80\x80session_id",
    "\xc2\x85session_id",
    "\xef\xbb\xbfsession_id",
]

COOKIES = [
    "{}",
    "x=1; {}",
    "x=1;{}",
    "x=1 ; {}",
    "x=1;\t{}",
    "\t{}",
    "x=1,{}",
    "x=1, {}",
    "{},x=1",
    "{}, x=1",
    "{};",
    "{} ;",
    "; {}",
    ";; {}",
    "{}; x",
    "x; {}",
    "=x; {}",
    "x=1 {}",
    "{} x=1",
    "x=1&{}",
    "{}&x=1",
    "$Version=1; {}",
    '$Version="1"; {}; $Path="/"',
    "$Version=1, {}",
    "{}; $Path=/",
    'x="1; {}',
    'x="; {}"',
    'x="a\\"; {}',
    "session_id=; {}",
    "{}; session_id=",
    "session_id; {}",
    "session_id=other; {}",
    "{}; session_id=other",
    "$Version=1; session_id=other; {}",
    'x="; session_id=other; {}',
    'x="; session_id=other; "; {}',
    "session_id=other, {}",
    "x=1\r\nCookie: {}",
    "session_id=other\r\nCookie: {}",
    "{}\r\nCookie: x=1",
    "x=1;\xa0{}",
    "x=1;\xc2\xa0{}",
    "{}\xa0",
    "{}\xc2\xa0",
    "{}\xe3\x80\x80; x=1",
    "{}\xc2\x85",
    "{}\x80",
]

SCHEMES = ["Basic", "basic", "BASIC", "bAsIc", "Bearer", "bearer", "BEARER", "Token", "token"]
GAPS = [" ", "  ", "   ", "\t", " \t", "\t ", "\t\t", "\xa0", " \xa0", "\x85", "\xc2\xa0"]

# {} is the base64 of user and password, or a token.
CREDENTIALS = [
    "{}",
    "{} ",
    "{}\t",
    "{}=",
    "{}==",
    "{}===",
    "{}*",
    "*{}",
    "{},",
    "{}, x",
    "{};",
    "{} x",
    "{}\tx",
    '"{}"',
    "{}\xa0",
    "{}.",
    "{}!",
    "-{}",
    "{}-",
    "_{}",
    "{}:",
    "{} =",
    '="{}"',
    'token="{}"',
    'realm="x", {}',
    ",{}",
    ":{}",
    "={}",
    "{}&x",
    "{}\x80",
    "{}\r\nAuthorization: {}",
    "{}\r\nAuthorization: Basic b3RoZXI6b3RoZXI=",
]


def fresh(pick):
    """A value that nobody has sent before; now and then with what spellings differ in."""
    middle = pick.choice(("", "", " ", "+"))
    return middle.join("".join(pick.choices(ALPHABET, k=pick.randint(6, 9))) for _ in "ab")


def octal(c):
    return f"\\{ord(c):03o}"


# Each spells a value as some server may read it; `pick` makes the choices.
QUERY_VALUES = [
    lambda pick, v: escaped(pick, v, 0),
    lambda pick, v: escaped(pick, v, 1),
    lambda pick, v: escaped(pick, v, 0.3),
    lambda pick, v: v.replace("+", "%2B").replace(" ", "+"),
    lambda pick, v: escaped(pick, v, 0) + pick.choice(("%00", "%00x", "%20", "+", "%0a", "%FF", "%")),
    lambda pick, v: pick.choice(("%20", "+", "%09", "%00", "=", "%EF%BB%BF")) + escaped(pick, v, 0),
    lambda pick, v: f"%22{escaped(pick, v, 0)}%22",
]
COOKIE_VALUES = QUERY_VALUES + [
    lambda pick, v: v,
    lambda pick, v: f'"{v}"',
    lambda pick, v: '"' + "".join(map(octal, v)) + '"',
    lambda pick, v: '"' + octal(v[0]) + v[1:] + '"',
    lambda pick, v: '"' + "".join(pick.choice((octal(c), "\\" + c, c)) for c in v) + '"',
    lambda pick, v: '"\\' + v + '"',
    lambda pick, v: "\\" + v,
    lambda pick, v: '"' + v,
    lambda pick, v: v + '"',
    lambda pick, v: f"'{v}'",
    lambda pick, v: f'"{v}"x',
    lambda pick, v: f'" {v} "',
    lambda pick, v: f'""{v}""',
    lambda pick, v: f'"{v}\\"',
    lambda pick, v: pick.choice(("\xa0", "\xc2\xa0", "\x80", "\xe2\x80\x83")) + v,
    lambda pick, v: v + pick.choice(("\xa0", "\xc2\xa0", "\x80", "\xe2\x80\x83", ",", "\\")),
    lambda pick, v: f'j:"{v}"',
    lambda pick, v: 'j:"' + "".join(f"\\u{ord(c):04x}" for c in v) + '"',
]


def loosened(pick, text):
    """Base64 as lenient decoders take it: another alphabet, padding, or a foreign byte."""
    foreign = pick.choice(["*", "-", "_", ".", "!", "~", ",", ":", "%", "\x80", "\xff", "\t", " ", "="])
    at = pick.randrange(1, len(text))
    return pick.choice(
        [
            text.rstrip("="),
            text.replace("+", "-").replace("/", "_"),
            text[:at] + foreign + text[at:],
            text[:at] + 2 * foreign + text[at:],
            other_last_bits(text),
        ]
    )


def other_last_bits(text):
    """The last character has bits that no byte needs: another one decodes to the same."""
    data = text.rstrip("=")
    return data[:-1] + chr(ord(data[-1]) + 1) + text[len(data) :] if data != text else text


def base64_of(text):
    return base64.b64encode(text.encode("latin-1")).decode("ascii")


def one_of(pick, pieces):
    """Half of the time the first, which is the plain one."""
    return pieces[0] if pick.random() < 0.5 else pick.choice(pieces)


def pairs_of(pick, count, names, frames, values, plain):
    """Every name, frame and value by itself, then random ones together."""
    known = [(name, frames[0], values[0]) for name in names]
    known += [(names[0], frame, values[0]) for frame in frames]
    known += [(names[0], frames[0], value) for value in values for _ in range(3)]
    mixed = [tuple(one_of(pick, pieces) for pieces in (names, frames, values)) for _ in range(count)]
    for name, frame, value in known + mixed:
        text = fresh(pick)
        yield plain.format(escaped(pick, text, 0)), frame.format(f"{name}={value(pick, text)}")


def queries(seed, count):
    pick = random.Random(f"queries {seed}")
    return list(pairs_of(pick, count, QUERY_NAMES, QUERIES, QUERY_VALUES, "api_key={}"))


def cookies(seed, count):
    pick = random.Random(f"cookies {seed}")
    return list(pairs_of(pick, count, COOKIE_NAMES, COOKIES, COOKIE_VALUES, "session_id={}"))


def credentials(seed, count):
    pick = random.Random(f"credentials {seed}")
    known = [(scheme, gap, "{}", 0) for scheme in SCHEMES for gap in GAPS]
    known += [(s, " ", frame, 0) for s in ("Basic", "Bearer") for frame in CREDENTIALS]
    known += [("Basic", " ", "{}", 1)] * 60
    mixed = [
        (pick.choice(SCHEMES), one_of(pick, GAPS), one_of(pick, CREDENTIALS), pick.random() < 0.5)
        for _ in range(count)
    ]
    for scheme, gap, frame, loose in known + mixed:
        basic = scheme.lower() == "basic"
        # The signs make + and / likely in the base64.
        text = base64_of(f"{fresh(pick)}:{pick.choice(('', '>?>', '~~?', 'x'))}") if basic else fresh(pick)
        text = text.replace(" ", "")
        plain = f"{scheme.capitalize()} {text}"
        respelt = loosened(pick, text) if basic and loose else text
        yield plain, scheme + gap + frame.replace("{}", respelt)
