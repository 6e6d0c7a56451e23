"""gRPC without descriptions of messages: python3-grpcio's server and client, whose messages are bytes, and
@grpc/grpc-js's from npm (scripts/install installs them)."""
import json
import os
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, whichever Python runs

import grpc  # noqa: E402

from harness.opentelemetry import ENVIRONMENT  # noqa: E402
from harness.process import PATIENCE, Child, free_port, run_tool, tool  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SERVICE = "test.Service"
# Calls that a server runs at once.
MOST_CALLS = 300
NO_BOUNDS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 65536),
]


class Service:
    """The methods of test.Service. It remembers each call, and can be waited on."""

    def __init__(self):
        self.calls = []  # (method, metadata, peer, seconds until its deadline)
        self.seen = queue.Queue()  # messages that a method of streams has taken
        self.waiting = queue.Queue()  # calls of Slow that have begun
        self.over = queue.Queue()  # names of methods whose calls are over, but for the short ones
        self.go = threading.Event()  # ends every call of Slow

    def _note(self, method, context):
        self.calls.append((method, list(context.invocation_metadata()), context.peer(), context.time_remaining()))

    def _note_end(self, method, context):
        """Has `over` say so when the call is over, by whichever side. While its client may still send and nothing
        else ends it, that is the client's cancellation: grpcio does not always tell the method of it."""
        context.add_callback(lambda: self.over.put(method))

    def connections(self):
        """The ends of the gateway's connections that calls came by."""
        return {peer for _, _, peer, _ in self.calls}

    # ---- methods

    def unary(self, message, context):
        """Echoes the message and every metadatum of the call's own."""
        self._note("Unary", context)
        own = [(k, v) for k, v in context.invocation_metadata() if k.startswith("x-test")]
        context.send_initial_metadata(own)
        context.set_trailing_metadata([("x-trailing", "1"), ("x-trailing-bin", bytes(range(256)))])
        return message

    def server_stream(self, message, context):
        """Sends as many messages of that size as the two numbers in `message` say."""
        self._note("ServerStream", context)
        self._note_end("ServerStream", context)
        count, size = (int(word) for word in message.split())
        for number in range(count):
            if not context.is_active():
                return
            yield b"%d " % number + b"x" * size

    def client_stream(self, messages, context):
        self._note("ClientStream", context)
        self._note_end("ClientStream", context)
        count = size = 0
        for message in messages:
            count, size = count + 1, size + len(message)
            self.seen.put(message)
        return b"%d %d" % (count, size)

    def bidi(self, messages, context):
        """Answers each message with itself, in capitals. The head of the response comes at once."""
        self._note("Bidi", context)
        context.send_initial_metadata([("x-begun", "1")])
        self._note_end("Bidi", context)
        for message in messages:
            yield message.upper()

    def slow(self, message, context):
        """Answers when it is let go."""
        self._note("Slow", context)
        self._note_end("Slow", context)
        self.waiting.put(message)
        ended = threading.Event()
        context.add_callback(ended.set)
        while not self.go.wait(0.02) and not ended.is_set():
            pass
        return message

    def fail(self, message, context):
        """Ends with the status in `message` and the details behind it, which may be of any language."""
        self._note("Fail", context)
        code, _, details = message.decode().partition(" ")
        context.set_trailing_metadata([("grpc-status-details-bin", b"\x08\x05\x12\x00"), ("x-why", "because")])
        context.abort(getattr(grpc.StatusCode, code), details)

    def fail_late(self, message, context):
        """Sends a message, and then ends with RESOURCE_EXHAUSTED."""
        self._note("FailLate", context)
        yield message
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more")

    def refuse(self, messages, context):
        """Ends without a look at the client's messages."""
        self._note("Refuse", context)
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "not you")

    def handlers(self):
        unary, stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        return {
            "Unary": unary(self.unary),
            "ServerStream": stream(self.server_stream),
            "ClientStream": grpc.stream_unary_rpc_method_handler(self.client_stream),
            "Bidi": grpc.stream_stream_rpc_method_handler(self.bidi),
            "Slow": unary(self.slow),
            "Fail": unary(self.fail),
            "FailLate": stream(self.fail_late),
            "Refuse": grpc.stream_unary_rpc_method_handler(self.refuse),
        }


class GrpcServer:
    """A server of test.Service on a free port. With `tls`, (key, certificate) paths, it speaks that."""

    def __init__(self, service=None, tls=None, port=None, options=()):
        self.service = service or Service()
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._tls, self._options = tls, list(options)
        self.start()

    def start(self):
        self._server = grpc.server(
            ThreadPoolExecutor(MOST_CALLS), options=[*NO_BOUNDS, ("grpc.so_reuseport", 0), *self._options]
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, self.service.handlers()),)
        )
        if self._tls is None:
            bound = self._server.add_insecure_port(self.address)
        else:
            parts = []
            for path in self._tls:
                with open(path, "rb") as f:
                    parts.append(f.read())
            bound = self._server.add_secure_port(self.address, grpc.ssl_server_credentials([tuple(parts)]))
        assert bound == self.port, f"{self.address} is taken"
        self._server.start()

    def drain(self, seconds=30):
        """Takes no more calls and lets those that run finish; the event is set when they have."""
        return self._server.stop(seconds)

    def halt(self):
        """Ends at once. It may be started again."""
        self._server.stop(0).wait(10)

    def stop(self):
        self.service.go.set()
        self.halt()


class GrpcClient:
    """A channel with a connection of its own. `tls` are Certificates."""

    def __init__(self, address, tls=None, options=()):
        target = f"{address[0]}:{address[1]}"
        options = [*NO_BOUNDS, ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0), *options]
        if tls is None:
            self.channel = grpc.insecure_channel(target, options)
        else:
            with open(tls.path("ca.pem"), "rb") as f:
                credentials = grpc.ssl_channel_credentials(f.read())
            options.append(("grpc.ssl_target_name_override", "gateway.test"))
            self.channel = grpc.secure_channel(target, credentials, options)
        name = f"/{SERVICE}/"
        self.unary = self.channel.unary_unary(name + "Unary")
        self.server_stream = self.channel.unary_stream(name + "ServerStream")
        self.client_stream = self.channel.stream_unary(name + "ClientStream")
        self.bidi = self.channel.stream_stream(name + "Bidi")
        self.slow = self.channel.unary_unary(name + "Slow")
        self.fail = self.channel.unary_unary(name + "Fail")
        self.fail_late = self.channel.unary_stream(name + "FailLate")
        self.refuse = self.channel.stream_unary(name + "Refuse")
        self.missing = self.channel.unary_unary(name + "Missing")

    def stop(self):
        self.channel.close()


class Outbox:
    """Messages for a stream of a client, which end when it is closed."""

    def __init__(self):
        self._messages = queue.Queue()

    def send(self, message):
        self._messages.put(message)

    def close(self):
        self._messages.put(None)

    def __iter__(self):
        return iter(self._messages.get, None)


def failure_of(call, *words, **options):
    """The error with which a call fails, or the iteration over its messages."""
    try:
        found = call(*words, timeout=options.pop("timeout", 20 * PATIENCE), **options)
        if not isinstance(found, bytes):
            list(found)
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call has succeeded")


class NodeGrpcServer:
    """A server of test.Service by @grpc/grpc-js: see grpc_server.js."""

    def __init__(self):
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._child = Child([tool("node"), os.path.join(HERE, "grpc_server.js"), str(port)], environment=ENVIRONMENT)
        self._child.wait_for_line(lambda line: line == "listening")

    def stop(self):
        self._child.stop()


def node_client(address, ca=None):
    """What a client of @grpc/grpc-js saw of each kind of call: see grpc_client.js."""
    words = ["node", os.path.join(HERE, "grpc_client.js"), f"{address[0]}:{address[1]}", *([ca] if ca else [])]
    status, said, complaint = run_tool(words, env=os.environ | ENVIRONMENT)
    assert status == 0, complaint
    return json.loads(said)
