// Decodes requests of OTLP by the protobuf definitions of OpenTelemetry: reads one as JSON from
// stdin, and writes what is left of it after a way through protobuf's binary form. A member that the
// definitions do not know is lost, and a value of a wrong type is an error.
"use strict";
const { opentelemetry } = require("@opentelemetry/otlp-transformer/build/src/generated/root");

const request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
const ids = ["traceId", "spanId", "parentSpanId"];

// In JSON ids are hexadecimal (OTLP), where protobuf has base64 for bytes.
const recode = (from, to) => (name, value) =>
  ids.includes(name) ? Buffer.from(value, from).toString(to) : value;

const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"), recode("hex", "base64"));
const complaint = request.verify(request.fromObject(given));
if (complaint) {
  throw new Error(complaint);
}
const decoded = request.decode(request.encode(request.fromObject(given)).finish());
const plain = JSON.stringify(request.toObject(decoded, { longs: String, bytes: String }));
process.stdout.write(JSON.stringify(JSON.parse(plain, recode("base64", "hex"))));
