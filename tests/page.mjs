// The page's module under node: node [--experimental-wasm-relaxed-simd] page.mjs GLUE.js MODULE.wasm [exact], requests as
// lines on standard input, answers as lines. With `exact` the module has no fused multiply-add.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { code, exact, renumber } from '../examples/page/renumber.mjs';

const [glue, file, how] = process.argv.slice(2);
const bytes = renumber(readFileSync(file));
const worker = readFileSync(new URL('../examples/page/worker.js', import.meta.url), 'utf8');
const createModule = createRequire(import.meta.url)(resolve(glue));
const scope = {};
new Function('self', 'createModule', 'code', 'exact', 'WebAssembly', worker)(
  scope, createModule, code(bytes), exact(bytes), how === 'exact' ? { ...WebAssembly, validate: () => false } : WebAssembly);
const told = message => new Promise(answered => {
  scope.postMessage = ({ answer }) => answered(answer);
  scope.onmessage({ data: { id: 0, message } });
});

const hello = await told({ module: bytes });
if (hello.error) throw new Error(hello.error);
console.error(hello.fused ? 'fused' : 'exact');
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await told(JSON.parse(line))));
