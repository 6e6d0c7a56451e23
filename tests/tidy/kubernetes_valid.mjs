// Reads Kubernetes objects as a JSON array from the standard input, validates each by the API's schema, and prints what
// is wrong with them as a JSON array of strings.   kubernetes_valid.mjs NODE_MODULES
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const complaints = [];
for (const object of JSON.parse(readFileSync(0))) {
  const owner = object.apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  const path = [process.argv[2], owner, object.apiVersion, object.kind + ".js"].join("/");
  const model = (await import(pathToFileURL(path)))[object.kind];
  try {
    new model(object).validate();
  } catch (error) {
    complaints.push(`${object.kind} ${object.metadata.name}: ${error.message}`);
  }
}
console.log(JSON.stringify(complaints));
