"""Werkzeug on its own server, with a second application mounted at a prefix."""
import json
import logging
import sys

from werkzeug.exceptions import HTTPException
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.routing import Map, Rule
from werkzeug.serving import run_simple
from werkzeug.wrappers import Request, Response

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

rules = Map(
    [Rule("/api/login", endpoint="login")]
    + [Rule("/method", endpoint=m, methods=[m]) for m in METHODS]
    + [Rule("/", endpoint="other"), Rule("/<path:rest>", endpoint="other")]
)


def credentials(request):
    found = request.authorization
    # Basic or Digest, by its own parser; since 2.3 it has other schemes' tokens too.
    if found is not None and getattr(found, "token", None) is not None:
        return [f"{found.type} {found.token}"]
    if found is not None:
        return [f"{found.type} {found.username}:{found.password}"]
    words = request.headers.get("Authorization", "").split(None, 1)
    return [f"{words[0].lower()} {words[1]}"] if len(words) == 2 else []


def answer(request, handler, method=None):
    read = {
        "handler": handler,
        "method": method,
        "query": [v for v in [request.args.get("api_key")] if v],
        "cookie": [v for v in [request.cookies.get("session_id")] if v],
        "authorization": credentials(request),
    }
    return Response(headers={"X-Read": json.dumps(read)})


@Request.application
def application(request):
    try:
        endpoint, _ = rules.bind_to_environ(request.environ).match()
    except HTTPException as refusal:
        return refusal
    if endpoint in METHODS:
        return answer(request, "other", endpoint)
    return answer(request, endpoint)


@Request.application
def mounted(request):
    return answer(request, "mount")


logging.getLogger("werkzeug").setLevel(logging.ERROR)
run_simple("127.0.0.1", int(sys.argv[1]), DispatcherMiddleware(application, {"/graphql": mounted}))
