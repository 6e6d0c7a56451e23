"""Django, whose views read JSON from the body as most do, whatever its type."""
import json
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import re_path

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="none", USE_TZ=True)


def member(value, *names):
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def answer(request):
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return HttpResponse(status=400)
    read = {"model": member(body, "model"), "name": member(body, "params", "name")}
    return HttpResponse(headers={"X-Read": json.dumps(read)})


urlpatterns = [re_path("", answer)]


class Quiet(WSGIRequestHandler):
    def log_message(self, *ignored):
        pass


make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Quiet).serve_forever()
