"""What a whole TLS handshake costs the gateway, beside the library alone."""
import dataclasses
import json
import subprocess
import tempfile
from pathlib import Path

from proxies import PROGRAMS, PROXY_CORE, Proxies, free_port, settle_on
from scenarios import SCENARIOS
from slices import measure
from table import show

NUMBER = 5000


def library_alone():
    """CPU of one handshake in microseconds."""
    with tempfile.TemporaryDirectory() as directory:
        proxies = Proxies((), {}, free_port(), Path(directory))
        proxies.certify()
        said = subprocess.run([PROGRAMS / "handshakes", proxies.pem, str(NUMBER)], check=True,
                              timeout=60, preexec_fn=settle_on(PROXY_CORE), stdout=subprocess.PIPE)
    return json.loads(said.stdout)["us"]


def of_gateway(name, results):
    """Its CPU per connection with one request, in microseconds, and what is to be said of it."""
    scenario = dataclasses.replace(SCENARIOS[name], proxies=("gateway",), bars={}, cycles=10)
    (gateway,), notes = measure(f"handshakes_{name}", scenario, results)
    return gateway.cpu, notes


def run(results):
    library = library_alone()
    plain, notes = of_gateway("close", results)
    tls, more_notes = of_gateway("tls_close", results)
    rows = [("a handshake, in the library alone", library),
            ("a connection with one request, plain", plain), ("the same over TLS", tls),
            ("of that the handshake and the rest of TLS", tls - plain)]
    show("handshakes: a whole handshake per connection", ("what", "CPU us", "per second and core"),
         [(what, f"{each:.1f}", f"{1e6 / each:,.0f}") for what, each in rows])
    for note in notes + more_notes:
        print(f"\n{note}")
