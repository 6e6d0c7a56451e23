"""Django on the WSGI server that it develops with; credentials as its REST framework reads them."""
import base64
import json
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import include, path, re_path
from django.views import View

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="none", USE_TZ=True)


def credentials(request):
    words = request.headers.get("Authorization", "").encode("latin-1").split()
    if len(words) != 2:
        return []
    scheme = words[0].lower()
    text = base64.b64decode(words[1]) if scheme == b"basic" else words[1]
    return [(scheme + b" " + text).decode("latin-1")]


def answer(request, handler, method=None):
    read = {
        "handler": handler,
        "method": method,
        "query": [v for v in [request.GET.get("api_key")] if v],
        "cookie": [v for v in [request.COOKIES.get("session_id")] if v],
        "authorization": credentials(request),
    }
    return HttpResponse(headers={"X-Read": json.dumps(read)})


class ByMethod(View):
    pass


for name in ("get", "post", "put", "patch", "delete", "options"):
    setattr(ByMethod, name, lambda self, request, m=name.upper(): answer(request, "other", m))

urlpatterns = [
    path("api/login", answer, {"handler": "login"}),
    path("graphql/", include([re_path("", answer, {"handler": "mount"})])),
    path("method", ByMethod.as_view()),
    re_path("", answer, {"handler": "other"}),
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *ignored):
        pass


make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Quiet).serve_forever()
