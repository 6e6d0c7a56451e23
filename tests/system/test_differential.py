"""What we forward, read by Node's strict parser, is the sequence that the client sent."""
import os

from harness.case import SystemTest, forwarding_to
from harness.client import Closed
from harness.node import NodeReader
from harness.pipelines import Pipelines
from harness.process import SLOW

COUNT = int(os.environ.get("GATEWAY_DIFFERENTIAL", "100" if SLOW else "500"))
SEED = int(os.environ.get("GATEWAY_DIFFERENTIAL_SEED", "1"))

# What Node says when the gateway ends a connection inside a broken body.
CUTS = {"HPE_INVALID_EOF_STATE", "ECONNRESET"}


def statuses(connection, sent):
    """Of all answers, until the connection ends. The client's reader holds them to the grammar."""
    found = []
    for request in sent:
        try:
            found.append(connection.response(head=request.method == "HEAD").status)
        except (Closed, ConnectionError):
            break
    assert connection.ends(), "more answers than requests, or no end"
    return found


class Differential(SystemTest):
    def setUp(self):
        self.node = self.started(NodeReader())
        self.gate = self.gateway("log: { access: false }\n" + forwarding_to(self.node.address))

    def test_node_reads_what_was_sent(self):
        pipelines = Pipelines(SEED)
        for number in range(COUNT):
            sent = pipelines.next(number)
            text = b"".join(request.text for request in sent)
            said = f"pipeline {number} of seed {SEED}: {text!r}"
            answers = self.exchange(sent, pipelines.pieces(text))
            read, errors = self.node.report()
            self.assertLessEqual({e["error"] for e in errors}, CUTS, (errors, said))
            good = next((i for i, request in enumerate(sent) if request.broken), len(sent))
            self.assertEqual(answers[:good], [200] * good, (answers, said))
            self.assertEqual(len(read), good, (read, said))
            for request, arrived in zip(sent, read):
                self.compare(request, arrived, said)
            if good < len(sent):
                self.assertEqual(len(answers), good + 1, (answers, said))
                self.assertIn(answers[good], (400, 501, 505), said)

    def exchange(self, sent, pieces):
        with self.gate.connect() as connection:
            try:
                for piece in pieces:
                    connection.send(piece)
            except ConnectionError:
                pass  # refused meanwhile, which is an answer
            return statuses(connection, sent)

    def compare(self, request, arrived, said):
        self.assertEqual(
            (arrived["method"], arrived["target"], arrived["body"]),
            (request.method, request.target, request.body.decode("latin-1")),
            said,
        )
        raw = arrived["fields"]
        fields = [
            (name.encode(), value.encode("latin-1"))
            for name, value in zip(raw[::2], raw[1::2])
            if name.lower().startswith("x-field-")
        ]
        self.assertEqual(fields, request.fields, said)
        self.assertNotIn("x-hop", [name.lower() for name in raw[::2]], said)
