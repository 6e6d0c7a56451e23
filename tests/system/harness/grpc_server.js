// A server of test.Service by @grpc/grpc-js, without TLS: grpc_server.js PORT
// It has the methods that grpc_client.js calls; Slow never answers.
"use strict";
const grpc = require("@grpc/grpc-js");

const same = (bytes) => bytes;
const method = (name, requestStream, responseStream) => ({
  path: `/test.Service/${name}`, requestStream, responseStream,
  requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same,
});
const service = {
  Unary: method("Unary", false, false),
  ServerStream: method("ServerStream", false, true),
  ClientStream: method("ClientStream", true, false),
  Bidi: method("Bidi", true, true),
  Slow: method("Slow", false, false),
  Fail: method("Fail", false, false),
};

const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(service, {
  Unary(call, done) {
    const own = new grpc.Metadata();
    for (const name of ["x-test", "x-test-bin"]) {
      for (const value of call.metadata.get(name)) own.add(name, value);
    }
    call.sendMetadata(own);
    const trailing = new grpc.Metadata();
    trailing.set("x-trailing", "1");
    done(null, call.request, trailing);
  },
  ServerStream(call) {
    const [count, size] = String(call.request).split(" ").map(Number);
    let number = 0;
    const more = () => {
      while (number < count && !call.cancelled) {
        if (!call.write(Buffer.from(`${number++} ${"x".repeat(size)}`))) {
          call.once("drain", more);
          return;
        }
      }
      call.end();
    };
    more();
  },
  ClientStream(call, done) {
    let count = 0;
    let size = 0;
    call.on("data", (message) => {
      ++count;
      size += message.length;
    });
    call.on("end", () => done(null, Buffer.from(`${count} ${size}`)));
  },
  Bidi(call) {
    call.on("data", (message) => call.write(Buffer.from(String(message).toUpperCase())));
    call.on("end", () => call.end());
  },
  Slow() {},
  Fail(call, done) {
    const [code, ...details] = String(call.request).split(" ");
    done({ code: grpc.status[code], details: details.join(" ") });
  },
});
server.bindAsync(`127.0.0.1:${process.argv[2]}`, grpc.ServerCredentials.createInsecure(), () => console.error("listening"));
