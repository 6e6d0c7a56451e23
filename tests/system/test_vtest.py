"""HAProxy's regression tests of plain HTTP/1. docs/conformance.md has how to run them, since none
of them is kept here, and the reason of each difference that is listed here."""
import unittest

from harness import vtest

# Clients that get, or whose server gets, something else than the script expects: (field, value).
NO_CONNECT = ("resp.status", "501")
REFUSED = ("resp.status", "400")
BAD_RESPONSE = ("resp.status", "502")
FORWARDED = ("resp.status", "200")

DIFFERENT = {
    "http_transfer_encoding": {
        "c1": REFUSED,
        "c2": REFUSED,
        "c3": BAD_RESPONSE,
        "c4": BAD_RESPONSE,
        "c9": ("resp.status", "501"),
        "c10": REFUSED,
    },
    "websocket": dict.fromkeys(("c1", "c2_1", "c2_2", "c3"), ("req.http.connection", "<undef>")),
    "h1_request_target_validation": dict.fromkeys(("c6", "c7", "c8", "c9"), NO_CONNECT),
    "h1_host_normalization": dict.fromkeys(("c1", "c32", "c33", "c34", "c35"), REFUSED)
    | dict.fromkeys(("c8", "c9", "c10", "c11"), FORWARDED)
    | dict.fromkeys(("c5", "c6", "c7", "c14", "c15", "c16", "c17", "c18", "c19"), NO_CONNECT),
    "h1_authority_fragment_char": dict.fromkeys(("c1", "c2"), REFUSED),
}

# Where the server's script has a section for each client.
SECTIONS = {
    "h1_to_h1": [(0,), (1, 2, 3, 4), (5,), (), ()],
    "http_transfer_encoding": [(0,), (1,), (2,), (3,), (4,), (), (), (), (), (), None],
}


@unittest.skipUnless(vtest.DIRECTORY, "GATEWAY_VTEST_DIR names no directory of scripts")
class HaproxysTests(unittest.TestCase):
    maxDiff = 4000

    def check(self, name):
        script = vtest.Script("http-messaging/" + name)
        clients = script.clients()
        self.assertTrue(clients)
        sections = SECTIONS.get(name, [None] * len(clients))
        for number, client in enumerate(clients):
            with self.subTest(client=client, number=number):
                unmet, said = vtest.run(script, number, sections[number])
                self.assertEqual(unmet, DIFFERENT.get(name, {}).get(client), said)

    def test_h1_to_h1(self):
        self.check("h1_to_h1")

    def test_http_splicing(self):
        self.check("http_splicing")

    def test_http_splicing_chunk(self):
        self.check("http_splicing_chunk")

    def test_http_transfer_encoding(self):
        self.check("http_transfer_encoding")

    def test_websocket(self):
        self.check("websocket")

    def test_websocket_handshakes_that_say_their_version(self):
        script = vtest.Script("http-messaging/websocket")
        for client, different in (("c1", None), ("c3", ("resp.status", "101"))):
            with self.subTest(client=client):
                number = script.clients().index(client)
                unmet, said = vtest.run(script, number, None, "sec-websocket-version: 13")
                self.assertEqual(unmet, different, said)

    def test_h1_request_target_validation(self):
        self.check("h1_request_target_validation")

    def test_h1_host_normalization(self):
        self.check("h1_host_normalization")

    def test_h1_authority_fragment_char(self):
        self.check("h1_authority_fragment_char")
