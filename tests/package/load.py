"""Asks for as long as the standard input is open, on connections that stay and on new ones, and prints as JSON
how often each path got each status, and what went wrong.

    load.py PORT PATH...
"""

import collections
import http.client
import json
import sys
import threading

PORT, *PATHS = int(sys.argv[1]), *sys.argv[2:]
over = threading.Event()
answers = collections.Counter()
lock = threading.Lock()


def ask(connection, path):
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        with lock:
            answers[f"{path} {response.status}"] += 1
        return response.getheader("Connection") != "close"
    except (OSError, http.client.HTTPException) as e:
        with lock:
            answers[f"{path} {type(e).__name__}: {e}"] += 1
        return False


def asks(path, stays):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    while not over.is_set():
        if not ask(connection, path) or not stays:
            connection.close()
    connection.close()


threads = [
    threading.Thread(target=asks, args=(path, stays))
    for path in PATHS for stays in (True, False)
]  # fmt: skip
for thread in threads:
    thread.start()
print("asking", flush=True)
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print(json.dumps(answers))
