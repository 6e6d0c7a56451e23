// A client of @grpc/grpc-js that makes one call of each kind: grpc_client.js HOST:PORT [CA]
// It prints what it saw, as JSON. Messages are bytes; test.Service is in grpc.py and grpc_server.js.
"use strict";
const fs = require("node:fs");
const grpc = require("@grpc/grpc-js");

const [target, ca] = process.argv.slice(2);
const credentials = ca ? grpc.credentials.createSsl(fs.readFileSync(ca)) : grpc.credentials.createInsecure();
const client = new grpc.Client(target, credentials, {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  "grpc.enable_retries": 0,
  ...(ca ? { "grpc.ssl_target_name_override": "gateway.test" } : {}),
});
const same = (bytes) => bytes;
const path = (name) => `/test.Service/${name}`;
const soon = () => ({ deadline: Date.now() + 30000 });
const LARGE = Buffer.alloc(16 << 20, "m");

function unary(name, message, metadata = new grpc.Metadata(), options = soon()) {
  return new Promise((done) => {
    const seen = {};
    const call = client.makeUnaryRequest(path(name), same, same, message, metadata, options, (error, answer) => {
      seen.code = error ? error.code : 0;
      seen.details = error ? error.details : "";
      seen.answer = answer;
    });
    call.on("metadata", (initial) => (seen.initial = initial));
    call.on("status", (status) => (seen.trailing = status.metadata));
    call.on("status", () => setImmediate(done, seen));
  });
}

function collected(call) {
  return new Promise((done) => {
    const messages = [];
    call.on("data", (message) => messages.push(message));
    call.on("error", () => {});
    call.on("status", (status) => done({ code: status.code, messages }));
  });
}

async function pingPong() {
  const call = client.makeBidiStreamRequest(path("Bidi"), same, same, new grpc.Metadata(), soon());
  const answers = [];
  const over = new Promise((done) => call.on("status", (status) => done(status.code)));
  for (let i = 0; i < 20; ++i) {
    const answer = new Promise((done) => call.once("data", done));
    call.write(Buffer.from(`ping ${i}`));
    answers.push(String(await answer));
  }
  call.end();
  return { code: await over, answers };
}

function clientStream() {
  return new Promise((done) => {
    const call = client.makeClientStreamRequest(path("ClientStream"), same, same, new grpc.Metadata(), soon(), (error, answer) =>
      done({ code: error ? error.code : 0, answer: String(answer) }));
    for (let i = 0; i < 100; ++i) call.write(Buffer.alloc(1000, "c"));
    call.end();
  });
}

async function run() {
  const found = {};
  const metadata = new grpc.Metadata();
  metadata.set("x-test", "one");
  metadata.set("x-test-bin", Buffer.from([0, 1, 254, 255]));
  let seen = await unary("Unary", Buffer.from("hello"), metadata);
  found.unary = {
    code: seen.code,
    answer: String(seen.answer),
    text: seen.initial.get("x-test"),
    binary: [...seen.initial.get("x-test-bin")[0]],
    trailing: seen.trailing.get("x-trailing"),
  };
  seen = await unary("Unary", LARGE);
  found.large = { code: seen.code, same: Boolean(seen.answer) && LARGE.equals(seen.answer) };
  const streamed = await collected(
    client.makeServerStreamRequest(path("ServerStream"), same, same, Buffer.from("200 1000"), new grpc.Metadata(), soon()));
  found.serverStream = { code: streamed.code, count: streamed.messages.length };
  found.clientStream = await clientStream();
  found.pingPong = await pingPong();
  seen = await unary("Fail", Buffer.from("NOT_FOUND no such thing"));
  found.fail = { code: seen.code, details: seen.details };
  seen = await unary("Slow", Buffer.from("deadline"), new grpc.Metadata(), { deadline: Date.now() + 200 });
  found.deadline = seen.code;
  const calls = await Promise.all(Array.from({ length: 100 }, (_, i) => unary("Unary", Buffer.from(String(i)))));
  found.many = calls.filter((call, i) => call.code === 0 && String(call.answer) === String(i)).length;
  const endless = client.makeServerStreamRequest(
    path("ServerStream"), same, same, Buffer.from("100000000 1000"), new grpc.Metadata(), soon());
  endless.once("data", () => endless.cancel());
  found.cancel = (await collected(endless)).code;
  client.close();
  console.log(JSON.stringify(found));
}

run();
