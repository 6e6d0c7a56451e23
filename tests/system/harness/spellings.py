"""Spellings of a path and of a method: those that servers are known to read differently, and
random ones from the same pieces."""
import random
import re

# Of /api/login and of what lies below /graphql, which are limited.
KNOWN_PATHS = """
/api/login /graphql /graphql/x //api/login ///api/login //graphql/x /api//login
/api;a=%2Fb/login /api;%5Cx/login /x;%2Fq/../api/login /api;a=%2F/login /api;a=%2F..%2F/login
/x%2Fy/../api/login /x%5Cy/../api/login /x%2F/../api/login /x%2Fy/%2e%2e/api/login
//v1/api/login //host/api/login //host:80/api/login //user@host/api/login //[::1]/api/login
//host/graphql/x //host;x/api/login //host%2Fx/api/login
/graphql/../static /graphql/%2e%2e/static /graphql/.%2E/static /graphql/x/../../static
/graphql/..;/static /graphql/..;x=%2F/static /graphql/..%2Fstatic /graphql%2F..%2Fstatic
/graphql;x/../static /graphql;a=%2Fb/../static /graphql/.;/../static /graphql//../static
/x/../api/login /x/%2e%2e/api/login /x/..;/api/login /api/./login /api/%2e/login
/api/.;x/login /api/x/../login /api/x/..;y/login /api/login/..;/login
/;/api/login /;x=1/api/login /;%2Fapi/login /api;/login /api;x/login;y
/api/login;x=%2F.. /api%3Bx/login /api/login%3Bx /api%3Ba=%2Fb/login
/%61pi/login /api/%6Cogin /api%2Flogin /api%2flogin /api%5Clogin /api/login%2F /api/login/
/api/login%00 /api/login%20 /api/login%23 /api/login%3F /api/login%3Fx /api/login? /api/login??x
/api/login/. /api/login/x/.. /api/login/%2e /api/login. /api/login%0a /api/login%09
/%2561pi/login /api%252Flogin /api%u002Flogin /api%c0%aflogin /api%ef%bc%8flogin /%c1%a1pi/login
/api/login% /api/login%2 /api/login%zz /../api/login /%2e%2e/api/login /.;/../api/login
/%2Fapi/login /%5Capi/login /%2Fhost/api/login /.//api/login /x/..//api/login /x//../api/login
http://gateway.test/api/login http://gateway.test//api/login http://gateway.test//x/api/login
http://gateway.test/graphql/../static HTTP://gateway.test/api;a=%2Fb/login http://x//api/login
""".split()

LEADS = """/ / / // /// //v1/ //host:80/ /./ /%2e/ /;/ /;x/ /;%2Fq/ /x/../ /x%2Fy/../ /x;%2Fq/../
/%2F /x/..;/ http://gateway.test/ http://gateway.test//""".split()
SEPARATORS = """/ / / // /./ /%2e/ %2F %5C /; ;/ ;v=1/ ;a=%2Fb/ ;%5Cx/ /x/../ /x/%2e%2e/ /x%2Fy/../
/x;%2Fq/../ /x/.%2E/ /x/..;/ /.;/ /x%2F../ /%2F""".split()
TAILS = """/ // ;x ;x=%2F ? ?a=/../x %3F %3Bx %20 %00 /. /.. /x/.. /../static /%2e%2e/static
/..;/static %2F..%2Fstatic /x/../../static ;a=%2Fb/../static /%2F../static /..%2fstatic""".split()

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
KNOWN_METHODS = """GET POST PUT PATCH DELETE OPTIONS HEAD pOST post Post pOSt get Get gET put pUT Put
patch Patch delete Delete dELETE options Options POSTX XPOST PO$T POS QUERY PROPFIND""".split()


def escaped(pick, text, share):
    """`text` with that share of its letters and digits percent-encoded, and all else."""
    code = pick.choice(("%%%02X", "%%%02x"))
    return "".join(c if c.isalnum() and pick.random() >= share else code % ord(c) for c in text)


def random_path(pick):
    words = pick.choice((["api", "login"], ["api", "login"], ["graphql"], ["graphql", "x"]))
    if pick.random() < 0.3:
        words = [escaped(pick, word, 0.3) for word in words]
    between = pick.choice(SEPARATORS)
    tail = pick.choice(TAILS) if pick.random() < 0.5 else ""
    return pick.choice(LEADS) + between.join(words) + tail


def random_method(pick):
    return "".join(pick.choice((c.lower(), c.upper())) for c in pick.choice(METHODS[:-1]))


def paths(seed, count):
    pick = random.Random(f"paths {seed}")
    return KNOWN_PATHS + [random_path(pick) for _ in range(count)]


# Letters of other alphabets that some take for the other case of one of ours.
SAME_TO_SOME = {"i": ["%C4%B1", "%C4%B0", "\xc4\xb1"], "s": ["%C5%BF"], "k": ["%E2%84%AA"]}


def in_loose_case(pick, path):
    """The path with some letters in the other case; what is percent-encoded stays."""
    def changed(c):
        same = SAME_TO_SOME.get(c.lower())
        return pick.choice(same) if same and pick.random() < 0.1 else pick.choice((c.lower(), c.upper()))

    pieces = re.split(r"(%..|(?i:\bhttp)://[^/]*)", path)
    return "".join(p if i % 2 else "".join(changed(c) for c in p) for i, p in enumerate(pieces))


def loose_paths(seed, count):
    """As servers read them that ignore the case of letters and a slash at the end."""
    pick = random.Random(f"loose paths {seed}")
    plain = "/api/login /api/login/ /graphql /graphql/ /graphql/x".split()
    known = KNOWN_PATHS + [in_loose_case(pick, path) for path in plain * 10 + KNOWN_PATHS]
    return known + [in_loose_case(pick, random_path(pick)) for _ in range(count)]


def methods(seed, count):
    pick = random.Random(f"methods {seed}")
    return KNOWN_METHODS + [random_method(pick) for _ in range(count)]
