// The page's module under node: node [--experimental-wasm-relaxed-simd] page.mjs GLUE.js MODULE.wasm fused|exact, requests as
// lines on standard input, answers as lines. With `exact` the module has no fused multiply-add.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [glue, file, how] = process.argv.slice(2);
const text = name => readFileSync(new URL(`../examples/page/${name}`, import.meta.url), 'utf8');
const scope = {};
const withTodaysNumber = new Function('self', 'createModule', 'WebAssembly',
  `${text('fused.js')}\n${text('worker.js')}\nreturn withTodaysNumber`)(
  scope, createRequire(import.meta.url)(resolve(glue)), how === 'exact' ? { ...WebAssembly, validate: () => false } : WebAssembly);
const told = message => new Promise(answered => {
  scope.postMessage = ({ answer }) => answered(answer);
  scope.onmessage({ data: { id: 0, message } });
});

const hello = await told({ module: withTodaysNumber(new Uint8Array(readFileSync(file))) });
if (hello.error) throw new Error(hello.error);
console.error(hello.fused ? 'fused' : 'exact');
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await told(JSON.parse(line))));
