// Calls of models by the clients of their vendors: model_clients.js KIND BASE_URL CALLS
// KIND is openai or anthropic. CALLS is JSON: [{"stream": false, "api": "chat" | "responses", "stop": N}]; with
// `stop` the client leaves after so many events. It prints what came of each call, as JSON.
"use strict";

const [kind, baseURL, calls] = process.argv.slice(2);
const options = { apiKey: "sk-test", baseURL, maxRetries: 0, timeout: 10000 };

function failure(error, limited) {
  return {
    error: error.constructor.name,
    limited: error instanceof limited,
    status: error.status,
    code: error.code ?? null,
    type: error.type ?? error.error?.error?.type ?? null,
    text: error.error?.message ?? error.error?.error?.message ?? null,
    body: error.error ?? null,
    retryAfter: error.headers?.get("retry-after") ?? null,
    tokens: error.headers?.get("x-ratelimit-remaining-tokens") ?? null,
  };
}

// Reads a stream to its end, or so far.
async function read(stream, stop, take) {
  let count = 0;
  for await (const event of stream) {
    take(event);
    if (++count === stop) {
      stream.controller.abort();
      return;
    }
  }
}

function openai() {
  const OpenAI = require("openai");
  const client = new OpenAI(options);
  const chat = async ({ stream, stop }) => {
    const messages = [{ role: "user", content: "Hi" }];
    const request = { model: "m", max_tokens: 50, messages, stream };
    if (!stream) {
      const { choices, usage } = await client.chat.completions.create(request);
      return { text: choices[0].message.content, usage };
    }
    const found = { text: "", usage: null };
    await read(await client.chat.completions.create({ ...request, stream_options: { include_usage: true } }), stop, (chunk) => {
      found.text += chunk.choices[0]?.delta?.content ?? "";
      found.usage = chunk.usage ?? found.usage;
    });
    return found;
  };
  const responses = async ({ stop }) => {
    const found = { text: "", usage: null };
    await read(await client.responses.create({ model: "m", input: "Hi", stream: true }), stop, (event) => {
      found.text += event.type === "response.output_text.delta" ? event.delta : "";
      found.usage = event.response?.usage ?? found.usage;
    });
    return found;
  };
  return { limited: OpenAI.RateLimitError, call: (one) => (one.api === "responses" ? responses(one) : chat(one)) };
}

function anthropic() {
  const Anthropic = require("@anthropic-ai/sdk");
  const client = new Anthropic(options);
  const call = async ({ stream, stop }) => {
    const request = { model: "m", max_tokens: 50, messages: [{ role: "user", content: "Hi" }] };
    if (!stream) {
      const { content, usage } = await client.messages.create(request);
      return { text: content[0].text, usage };
    }
    const found = { text: "", usage: null };
    await read(await client.messages.create({ ...request, stream: true }), stop, (event) => {
      found.text += event.delta?.text ?? "";
      found.usage = { ...found.usage, ...event.message?.usage, ...event.usage };
    });
    return found;
  };
  return { limited: Anthropic.RateLimitError, call };
}

async function main() {
  const { limited, call } = kind === "openai" ? openai() : anthropic();
  const results = [];
  for (const one of JSON.parse(calls)) {
    results.push(await call(one).catch((error) => failure(error, limited)));
  }
  console.log(JSON.stringify(results));
}
main();
