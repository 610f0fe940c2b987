// Puts every question of the conformance corpus to a policy's core module and prints one answer a line, as JSON.
//
//   node conformance.mjs CORE_MODULE CORPUS_FOLDER
//
// Nothing but Node's own WebAssembly is used: the module imports nothing, and its `json` interface takes a text and gives one.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const EVALUATE = "zonewarden:policy/json@0.1.0#evaluate";
const [modulePath, corpus] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(modulePath));
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

// The canonical ABI of `func(string) -> result<string, string>`: the text is written to memory that the module allocated; the
// answer is a pointer to a tag byte, and to pointer and length of a text four and eight bytes further. A memory that has
// grown has a new buffer, so views are made after each call.
function evaluate(request) {
  const { exports } = new WebAssembly.Instance(module, {});
  const bytes = encoder.encode(request);
  const at = exports.cabi_realloc(0, 0, 1, bytes.length);
  new Uint8Array(exports.memory.buffer).set(bytes, at);
  const answer = exports[EVALUATE](at, bytes.length);
  const view = new DataView(exports.memory.buffer);
  const tag = view.getUint8(answer);
  const text = new Uint8Array(exports.memory.buffer, view.getUint32(answer + 4, true), view.getUint32(answer + 8, true));
  const told = { outcome: tag === 0 ? "ok" : "err", answer: decoder.decode(text) };
  exports[`cabi_post_${EVALUATE}`](answer);
  return told;
}

for (const file of readdirSync(corpus).filter((name) => name.endsWith(".json")).sort()) {
  for (const { name, request, request_text } of JSON.parse(readFileSync(join(corpus, file), "utf8"))) {
    const told = evaluate(request_text ?? JSON.stringify(request));
    console.log(JSON.stringify({ function: file.replace(/\.json$/, ""), name, ...told }));
  }
}
