// Node.js with OpenTelemetry's own libraries, whose spans go to COLLECTOR:
//   traced_node.js COLLECTOR serve PORT        an Express server; /flaky cuts each second connection
//   traced_node.js COLLECTOR ask URL URL...    one trace that asks for each of them in turn
"use strict";
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
const { registerInstrumentations } = require("@opentelemetry/instrumentation");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");

const [collector, mode, ...rest] = process.argv.slice(2);
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": mode === "serve" ? "backend" : "client" }),
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: collector + "/v1/traces" }))],
});
provider.register();
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });

// Loaded last, so that it is instrumented.
const http = require("node:http");

function serve(port) {
  const app = require("express")();
  let cut = false;
  app.get("/flaky", (request, response) => {
    cut = !cut;
    cut ? request.socket.destroy() : response.send("ok");
  });
  app.get("/items/:id", (request, response) => response.json({ id: request.params.id }));
  app.listen(port, "127.0.0.1", () => console.error("ready"));
}

async function ask(urls) {
  await provider.getTracer("test").startActiveSpan("visit", async (visit) => {
    for (const url of urls) {
      const status = await new Promise((resolve, reject) => {
        http.get(url, (response) => response.resume().on("end", () => resolve(response.statusCode)))
          .on("error", reject);
      });
      console.error(`status ${status}`);
    }
    visit.end();
  });
  await provider.shutdown();
  console.error("ready");
}

mode === "serve" ? serve(Number(rest[0])) : ask(rest);
