"""Django with patterns that ignore letter case, in Unicode, and a slash at the end."""
import json
import os
import re
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import re_path

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="none", USE_TZ=True)


def response(request):
    is_json = request.content_type == "application/json"
    password = (json.loads(request.body) if is_json else request.POST).get("password")
    if password is None:
        return HttpResponse()
    if is_json:
        return HttpResponse(status=200 if password == "right" else 401)
    if password == "right":
        return HttpResponse(status=302, headers={"Location": "/welcome"})
    return HttpResponse("wrong")


def answer(request, handler):
    made = response(request)
    made["X-Read"] = json.dumps({"handler": handler})
    return made


def pattern(path):
    ending = "/?" if path.startswith("=") else "(?:/.*)?"
    return re_path(f"(?i)^{re.escape(path.lstrip('=/'))}{ending}$", answer, {"handler": path})


urlpatterns = [pattern(path) for path in os.environ["PATHS"].split()]
urlpatterns.append(re_path("", answer, {"handler": "other"}))


class Quiet(WSGIRequestHandler):
    def log_message(self, *ignored):
        pass


make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Quiet).serve_forever()
