"""Rules of RFC 9113 and RFC 7541 that a server must enforce, by raw frames. Each row says what is
sent and what must come; the public suite h2spec was the model.

After a row the connection still serves, unless it had to end, and so does a new one. Requests of rows
for /bad, which are malformed, never reach the origin; those for /cut never arrive whole.
"""
import struct

from harness.case import SystemTest, only_as_shipped
from harness.certificates import Certificates
from harness.http2 import (
    DATA,
    FLOW_CONTROL_ERROR,
    INITIAL_WINDOW,
    MAX_FRAME,
    PING,
    PREFACE,
    PROTOCOL_ERROR,
    PUSH_PROMISE,
    SETTINGS,
    Http2,
    frame,
)
from harness.http2_cases import (
    Answers,
    Fails,
    Ignores,
    Resets,
    data,
    goaway,
    head,
    open_head,
    ping,
    pseudo,
    reset,
    settings,
    window,
)
from harness.http2_frame_cases import FRAMES, FRAME_DEFINITIONS, STREAMS
from harness.http2_message_cases import HPACK, MESSAGES

# As small as they may be, so that a row needs little to pass them.
BOUNDS = "http2: { max_streams: 3 }\nhttp: { linger_timeout: 200ms }\nlog: { access: false }\n"


class Watched:
    """An origin that remembers what has begun to arrive, and what has arrived whole."""

    def __init__(self):
        self.whole = []

    def script(self, peer, request):
        if request.target == "/wait":
            peer.wait_for_end()
            return False
        peer.read_body(request)
        self.whole.append(request.target)
        return peer.reply()


def arrived(c, expected):
    """True if what came is what was expected."""
    if isinstance(expected, Fails):
        return c.closed or c.goaway is not None
    if isinstance(expected, Resets):
        return c.answer(expected.stream).reset is not None
    return isinstance(expected, Answers) and c.answer(expected.stream).ended


def fits(c, expected):
    answers = {n: a for n, a in c.answers.items() if a.fields or a.reset is not None}
    if isinstance(expected, Fails):
        return c.closed and (c.goaway is None or c.goaway[1] in expected.codes)
    if c.closed or c.goaway is not None:
        return False
    if isinstance(expected, Resets):
        answer = c.answer(expected.stream)
        return answer.reset in expected.codes and answer.fields is None
    if isinstance(expected, Answers):
        answer = c.answer(expected.stream)
        return answer.reset is None and answer.fields is not None and answer.status == expected.status
    return not answers


def what_came(c):
    """A description, for a failure."""
    streams = {n: ("status", a.status) if a.fields else ("reset", a.reset) for n, a in c.answers.items() if a.over}
    return f"goaway {c.goaway}, {'closed' if c.closed else 'open'}, streams {streams}"


class Rules(SystemTest):
    def setUp(self):
        self.watched = Watched()
        self.target, self.upstream = self.proxy(self.watched.script, BOUNDS)

    def hold(self, cases):
        for case in cases:
            with self.subTest(case.section, title=case.title):
                self.judge(case)
        self.assertLessEqual({r.target for r in self.upstream.requests}, {"/good", "/fine", "/wait", "/cut"})
        self.assertLessEqual(set(self.watched.whole), {"/good", "/fine"})

    def judge(self, case):
        expected = case.comes if isinstance(case.comes, tuple) else (case.comes,)
        with Http2(self.target.address) as c:
            self.play(c, case.sent if isinstance(case.sent, tuple) else (case.sent,))
            self.take(c, expected)
            self.assertTrue(any(fits(c, e) for e in expected), f"{expected} was due, came: {what_came(c)}")
            if not c.closed and case.fine_stream is not None:
                self.still_serves(c, case)
        with Http2(self.target.address) as other:
            self.assertEqual(other.ask("/fine").status, 200)

    @staticmethod
    def play(c, steps):
        try:
            for step in steps:
                step(c) if callable(step) else c.send(step)
        except OSError:
            pass  # The connection has ended, which is an answer.

    @staticmethod
    def take(c, expected):
        """Awaits one of those, or that the gateway has looked at everything."""
        before = c.pongs
        try:
            c.send(ping())
        except OSError:
            pass
        if any(isinstance(e, (Answers, Resets)) for e in expected) and not any(isinstance(e, Ignores) for e in expected):
            c.wait(lambda: c.goaway or any(arrived(c, e) for e in expected))
        else:
            c.wait(lambda: c.pongs > before or c.goaway)
        if c.goaway is not None and any(isinstance(e, Fails) for e in expected):
            c.wait_for_end()

    def still_serves(self, c, case):
        for waiting in (1, 3, 5):
            asked = not isinstance(case.sent, tuple) and head(pseudo("/wait"), waiting) in case.sent
            if asked and not c.answer(waiting).over:
                c.reset(waiting)
        c.send(head(pseudo("/fine"), case.fine_stream))
        answer = c.wait_for(case.fine_stream)
        self.assertEqual((answer.reset, answer.status), (None, 200), what_came(c))

    def test_frames(self):
        self.hold(FRAMES)

    def test_streams(self):
        self.hold(STREAMS)

    def test_definitions_of_frames(self):
        self.hold(FRAME_DEFINITIONS)

    def test_messages(self):
        self.hold(MESSAGES)

    def test_hpack(self):
        self.hold(HPACK)


class Beginnings(SystemTest):
    """RFC 9113 §3.4."""

    def setUp(self):
        self.target, self.upstream = self.proxy()

    def test_the_first_frames_are_settings_and_their_acknowledgement(self):
        with Recorder(self.target.address) as c:
            c.ping()
            kinds = [(kind, flags) for kind, flags, _, _ in c.frames]
        self.assertEqual(kinds[0], (SETTINGS, 0))
        self.assertIn((SETTINGS, 1), kinds)
        self.assertLess(kinds.index((SETTINGS, 1)), kinds.index((PING, 1)))

    def test_what_is_no_preface(self):
        for begun in (
            PREFACE[:-4] + b"XX\r\n\r\n",
            PREFACE[:18] + b"\r\nSM\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        ):
            with self.subTest(begun), Http2(self.target.address, begins=False) as c:
                try:
                    c.send(begun + b"x" * 100)
                    c.raw.recv(65536)  # A refusal in HTTP/1.1, or the end.
                    while c.raw.recv(65536):
                        pass
                except ConnectionError:
                    pass
        self.assertEqual(self.upstream.requests, [])

    def test_what_follows_the_preface_is_settings(self):
        for first in (head(pseudo("/bad")), ping(), window(1), goaway(), frame(SETTINGS, 1, 0), frame(0x16, 0, 0)):
            with self.subTest(first), Http2(self.target.address, begins=False) as c:
                c.send(PREFACE + first)
                ended = c.wait_for_end()
                self.assertIn(ended and ended[1], (PROTOCOL_ERROR, None))
        self.assertEqual(self.upstream.requests, [])

    def test_settings_may_be_long_and_repeated_before_a_request(self):
        with Http2(self.target.address, settings=b"".join(struct.pack(">HI", 0x100 + i, i) for i in range(20))) as c:
            c.send(settings((1, 100)) * 5 + settings() * 5)
            self.assertEqual(c.ask().status, 200)


class Recorder(Http2):
    """A connection that keeps each frame that comes."""

    def __init__(self, *arguments, **options):
        self.frames = []
        super().__init__(*arguments, **options)

    def _take(self, kind, flags, stream, payload):
        self.frames.append((kind, flags, stream, payload))
        super()._take(kind, flags, stream, payload)

    def sizes(self, stream):
        """Of DATA on it."""
        return [len(p) for kind, _, s, p in self.frames if (kind, s) == (DATA, stream)]


class Answering(SystemTest):
    """What the gateway sends keeps to what the client has said."""

    def setUp(self):
        self.target, self.upstream = self.proxy(lambda peer, request: peer.reply(body=b"x" * int(request.target[1:])))

    def test_pings_are_echoed(self):
        with Recorder(self.target.address) as c:
            c.send(ping(b"\0\1\2\3\4\5\6\7") + ping(b"abcdefgh", flags=1))
            c.ping()
            said = [payload for kind, flags, _, payload in c.frames if (kind, flags) == (PING, 1)]
        self.assertEqual(said, [b"\0\1\2\3\4\5\6\7", b"01234567"])

    def test_each_settings_is_acknowledged(self):
        with Recorder(self.target.address) as c:
            c.send(settings() * 3)
            c.ping()
            self.assertEqual([payload for kind, flags, _, payload in c.frames if (kind, flags) == (SETTINGS, 1)], [b""] * 4)

    def test_a_window_of_one_octet(self):
        with Recorder(self.target.address, settings=struct.pack(">HI", INITIAL_WINDOW, 1), opens_windows=False) as c:
            stream = c.request("/5")
            for got in range(1, 6):
                c.wait(lambda: len(c.answer(stream).body) >= got)
                self.assertTrue(c.ping())
                self.assertEqual(len(c.answer(stream).body), got)
                c.open_window(stream, 1)
            self.assertTrue(c.wait_for(stream).ended)
            self.assertEqual([size for size in c.sizes(stream) if size], [1] * 5)

    def test_the_last_of_two_values_counts(self):
        both = struct.pack(">HIHI", INITIAL_WINDOW, 100, INITIAL_WINDOW, 3)
        with Http2(self.target.address, settings=both, opens_windows=False) as c:
            stream = c.request("/10")
            c.wait(lambda: c.answer(stream).body)
            c.ping()
            self.assertEqual(len(c.answer(stream).body), 3)

    def test_a_setting_changes_the_window_of_an_open_stream(self):
        """Also below 0 (RFC 9113 §6.9.2)."""
        with Http2(self.target.address, settings=struct.pack(">HI", INITIAL_WINDOW, 10), opens_windows=False) as c:
            stream = c.request("/20")
            c.wait(lambda: len(c.answer(stream).body) == 10)
            c.send(settings((INITIAL_WINDOW, 2)))
            c.open_window(stream, 8)
            c.ping()
            self.assertEqual(len(c.answer(stream).body), 10)
            c.open_window(stream, 1)
            c.wait(lambda: len(c.answer(stream).body) == 11)
            c.send(settings((INITIAL_WINDOW, 11)))
            self.assertEqual(len(c.wait_for(stream).body), 20)

    def test_the_windows_of_the_connection_and_the_stream_both_hold(self):
        with Http2(self.target.address, settings=struct.pack(">HI", INITIAL_WINDOW, 2**20), opens_windows=False) as c:
            stream = c.request("/70000")
            c.wait(lambda: len(c.answer(stream).body) == 65535)
            c.open_window(stream, 10000)
            c.ping()
            self.assertEqual(len(c.answer(stream).body), 65535)
            c.open_window(0, 10000)
            self.assertEqual(len(c.wait_for(stream).body), 70000)

    def test_frames_are_no_larger_than_the_client_takes(self):
        for said, most in ((b"", 16384), (struct.pack(">HI", MAX_FRAME, 40000), 40000)):
            with Recorder(self.target.address, settings=said) as c:
                stream = c.request("/200000")
                self.assertEqual(len(c.wait_for(stream).body), 200000)
                self.assertLessEqual(max(c.sizes(stream)), most)

    def test_a_table_of_nothing_is_kept_to(self):
        with Http2(self.target.address, settings=struct.pack(">HI", 1, 0)) as c:
            c.decoder.max_allowed_table_size = 4096
            for _ in range(3):
                self.assertEqual(c.ask("/1").status, 200)
                self.assertEqual(len(c.decoder.header_table.dynamic_entries), 0)

    def test_nothing_is_pushed(self):
        with Recorder(self.target.address, settings=struct.pack(">HI", 2, 1)) as c:
            c.ask("/1")
            self.assertNotIn(PUSH_PROMISE, {kind for kind, _, _, _ in c.frames})
            self.assertEqual(c.settings.get(2, 0), 0)


class Sending(SystemTest):
    """What the client sends keeps to what the gateway has said."""

    def test_a_stream_has_its_window_and_no_more(self):
        gateway, upstream = self.proxy(lambda peer, request: peer.wait_for_end(), "http2: { stream_window: 1KiB }\n")
        with Http2(gateway.address) as c:
            c.wait(lambda: c.settings)
            self.assertEqual(c.settings[INITIAL_WINDOW], 1024)
            c.ping()
            c.send(open_head() + data(b"x" * 1025))
            c.wait(lambda: c.answer(1).over or c.goaway)
            self.assertEqual(c.goaway and c.goaway[1] or c.answer(1).reset, FLOW_CONTROL_ERROR)

    def test_content_that_nobody_wants_gives_its_window_back(self):
        """Behind a reset the frames of a client may be on their way (RFC 9113 §5.1)."""
        gateway, upstream = self.proxy()
        with Http2(gateway.address) as c:
            c.send(open_head() + reset())
            for _ in range(200):
                c.send(data(b"x" * 16384))
                self.assertTrue(c.ping())
            c.send(open_head(3) + data(b"y" * 16384, 3, end=True))
            self.assertEqual(c.wait_for(3).status, 200)
        self.assertEqual(len(upstream.last().body), 16384)
@only_as_shipped
class RulesOverTls(Rules):
    def setUp(self):
        self.tls = Certificates(self.directory())
        self.tls.issue("gateway.test", "DNS:gateway.test")
        super().setUp()
