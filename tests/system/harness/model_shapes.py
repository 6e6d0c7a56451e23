"""Responses as servers of language models give them, in the shapes of their public documentation, with usage that
a test chooses; and the stanzas of `settle` that read them."""
import json
import threading

# Alternatives, as one stanza for plain responses and for streams.
OPENAI = "{ usage.prompt_tokens: 1, usage.completion_tokens: 4 }"
RESPONSES = (
    '{ "usage.input_tokens | response.usage.input_tokens": 1, '
    '"usage.output_tokens | response.usage.output_tokens": 4 }'
)
ANTHROPIC = (
    '{ "usage.input_tokens | message.usage.input_tokens": 1, '
    '"usage.output_tokens | message.usage.output_tokens": 4 }'
)
GEMINI = "{ usageMetadata.promptTokenCount: 1, usageMetadata.candidatesTokenCount: 4 }"
OLLAMA = "{ prompt_eval_count: 1, eval_count: 4 }"

WORDS = ("Hel", "lo \u00e9", ' "q" \\ ', '{"usage":{"prompt_tokens":7}}')


def openai(given, made, text="Hello"):
    """A chat completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return json.dumps({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "m",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made,
                  "prompt_tokens_details": {"cached_tokens": 0}},
    }).encode()  # fmt: skip


def _chunk(delta, finish=None, usage=None, choices=True):
    first = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}] if choices else []
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "m",
            "choices": first, "usage": usage}  # fmt: skip


def events(texts, end="\n"):
    """A stream of events without names."""
    return b"".join(b"data: " + (t if isinstance(t, str) else json.dumps(t, ensure_ascii=False)).encode() + 2 * end.encode() for t in texts)


def named_events(texts, end="\n"):
    """A stream of events, each named after its `type`."""
    return b"".join(
        f"event: {t['type']}{end}data: {json.dumps(t, ensure_ascii=False)}{end}{end}".encode() for t in texts
    )


def openai_stream(given, made, end="\n", words=WORDS):
    """With `stream_options: { include_usage: true }`."""
    usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    chunks = [_chunk({"role": "assistant", "content": ""})] + [_chunk({"content": w}) for w in words]
    chunks += [_chunk({}, "stop"), _chunk({}, usage=usage, choices=False), "[DONE]"]
    return events(chunks, end)


def vllm_stream(given, made, end="\n"):
    """With continuous usage: each chunk has the usage so far."""
    chunks = []
    for number in range(made + 1):
        usage = {"prompt_tokens": given, "total_tokens": given + number, "completion_tokens": number}
        chunks.append(_chunk({"content": "x"}, usage=usage))
    return events([*chunks, "[DONE]"], end)


def _response(status, usage):
    return {"id": "resp_1", "object": "response", "created_at": 1700000000, "status": status, "model": "m",
            "output": [], "usage": usage}  # fmt: skip


def openai_response_stream(given, made, end="\n"):
    """Of OpenAI's Responses API."""
    usage = {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    return named_events([
        {"type": "response.created", "response": _response("in_progress", None)},
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "Hi"},
        {"type": "response.completed", "response": _response("completed", usage)},
    ], end)  # fmt: skip


def anthropic(given, made, text="Hello"):
    """A message."""
    return json.dumps({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": given, "cache_creation_input_tokens": 0, "output_tokens": made},
    }).encode()  # fmt: skip


def anthropic_start(given):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": {"input_tokens": given, "output_tokens": 1}}  # fmt: skip
    return {"type": "message_start", "message": message}


def anthropic_delta(made, reason="end_turn"):
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": made}}


def anthropic_stream(given, made, end="\n", words=WORDS):
    """`message_delta` has the output so far."""
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": w}} for w in words]
    return named_events([
        anthropic_start(given),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        anthropic_delta(max(1, made // 2), None),
        anthropic_delta(made),
        {"type": "message_stop"},
    ], end)  # fmt: skip


def _gemini(text, given, made):
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
            "usageMetadata": {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": given + made},
            "modelVersion": "m"}  # fmt: skip


def gemini(given, made):
    return json.dumps(_gemini("Hello", given, made), indent=2).encode()


def gemini_stream(given, made, end="\r\n"):
    """With `alt=sse`."""
    return events([_gemini("Hel", given, 1), _gemini("lo", given, made)], end)


def gemini_array(given, made):
    """Without it, a stream is one array."""
    return json.dumps([_gemini("Hel", given, 1), _gemini("lo", given, made)], indent=1).encode()


def ollama_stream(given, made, end="\n"):
    """Lines of JSON."""
    lines = [{"model": "m", "message": {"role": "assistant", "content": w}, "done": False} for w in WORDS]
    lines.append({"model": "m", "done": True, "prompt_eval_count": given, "eval_count": made})
    return b"".join(json.dumps(line).encode() + end.encode() for line in lines)


def price(given, made):
    """Tokens that the stanzas above make of it."""
    return given + 4 * made


class Answering:
    """A script of an origin that answers with `parts` of `kind`. Between two parts it waits for let_go(), if it
    `waits`. `framing` is chunked, length or close; with `breaks` the response has no end."""

    def __init__(self):
        self.kind = "application/json"
        self.status = 200
        self.fields = []
        self.framing = "chunked"
        self.waits = self.breaks = False
        self.parts = []
        self._go = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)

    def say(self, kind, *parts, **options):
        self.kind, self.parts = kind, list(parts)
        self.framing = options.get("framing", "chunked")
        self.breaks, self.waits = options.get("breaks", False), options.get("waits", False)
        self._go = threading.Semaphore(0)

    def let_go(self):
        self._go.release()

    def __call__(self, peer, request):
        peer.read_body(request)
        try:
            return self._answer(peer)
        finally:
            self.ended.release()

    def _answer(self, peer):
        # The test may say the next answer as soon as it has this one.
        go, waits, breaks, framing = self._go, self.waits, self.breaks, self.framing
        size = sum(map(len, self.parts))
        framings = {"chunked": ["Transfer-Encoding: chunked"], "length": [f"Content-Length: {size}"], "close": []}
        lines = [f"HTTP/1.1 {self.status} Whatever", *framings[framing]]
        lines += [f"Content-Type: {self.kind}"] if self.kind else []
        lines += [f"{n}: {v}" for n, v in self.fields]
        peer.send("\r\n".join([*lines, "", ""]).encode())
        for number, part in enumerate(self.parts):
            if number and waits and not go.acquire(timeout=20):
                raise AssertionError("the client did not get what was sent")
            if part:
                peer.send(b"%x\r\n%s\r\n" % (len(part), part) if framing == "chunked" else part)
        if breaks or framing == "close":
            return False
        if framing == "chunked":
            peer.send(b"0\r\n\r\n")
        return True
