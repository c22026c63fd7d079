// How fast the page trains and generates, beside the native program on one thread: node page.mjs PAGE.html PAGE_NATIVE
// [exact]. Both take turns, three times. The share is of the peak: of the multiply-adds per second that the same browser does
// in a loop of nothing else. With `exact` the browser has no fused multiply-add, and so no peak.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { withBrowser, withoutFused } from '../../tests/webdriver.mjs';

const [page, native, how] = process.argv.slice(2), exact = how === 'exact';
const sizes = [
  ['microgpt\'s size', { 'model.n_layer': '1', 'model.n_embd': '16', 'training.batch_size': '32' }, 400],
  ['copy', {}, 60],
  ['width 96, context 64', { 'task.length': '31', 'model.n_layer': '3', 'model.n_embd': '96', 'training.batch_size': '16' }, 20],
];
const middle = list => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/// A module that does `count` times 12 independent multiply-adds of four lanes, as the kernels' registers do.
const peakModule = () => {
  const sums = 12, vector = (...code) => [0xfd, ...code];
  const leb = n => (n < 128 ? [n] : [(n & 127) | 128, ...leb(n >> 7)]);
  const section = (id, body) => [id, ...leb(body.length), ...body];
  const code = [];
  for (let i = 0; i < sums; ++i) code.push(0x20, 1, 0x20, 2, 0x20, 3 + i, ...vector(0x85, 0x02), 0x21, 3 + i);
  const body = [1, sums + 2, 0x7b, 0x03, 0x40, ...code, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,
    0x20, 3];
  for (let i = 1; i < sums; ++i) body.push(0x20, 3 + i, ...vector(0xe4, 0x01));  // f32x4.add
  body.push(...vector(0x1f, 0), 0x0b);                                           // f32x4.extract_lane
  return [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]), ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x66, 0, 0]), ...section(10, [1, ...leb(body.length), ...body])];
};
const peakIn = js => js(`const {instance} = await WebAssembly.instantiate(new Uint8Array(arguments[0]));
  instance.exports.f(1e6);
  const begun = performance.now();
  instance.exports.f(5e7);
  return 5e7 * 12 * 4 * 2 / (performance.now() - begun) * 1000;`, peakModule());

const folder = mkdtempSync(join(tmpdir(), 'mote-'));
const program = spawn(resolve(native), [folder], { env: { ...process.env, MOTE_THREADS: '1' } });
const answers = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
/// The last answer to some requests, and the seconds that they took.
const askNative = async requests => {
  const begun = performance.now();
  for (const request of requests) program.stdin.write(`${JSON.stringify(request)}\n`);
  let told;
  for (const _ of requests) told = JSON.parse((await answers.next()).value);
  return { told, seconds: (performance.now() - begun) / 1000 };
};

await withBrowser('1200,800', async ({ open, js, cdp, until }) => {
  if (exact) await withoutFused(cdp);
  await open(`file://${resolve(page)}`);
  await until(() => js('return !document.getElementById("go").disabled'), 'the module does not come up', 30);
  const askPage = requests => js(`const begun = performance.now();
    const all = await Promise.all(arguments[0].map(request => send(request)));
    return { told: all.at(-1), seconds: (performance.now() - begun) / 1000 };`, requests);
  console.log('model, parameters: trains, tokens/s: page | native | share of the peak; generates, tokens/s: page | native');
  for (const [name, settings, full] of sizes) {
    const steps = exact ? Math.ceil(full / 10) : full;
    const trains = { page: [], native: [] }, generates = { page: [], native: [] }, shares = [];
    let parameters;
    for (let round = 0; round < 3; ++round) {
      for (const [who, ask] of [['page', askPage], ['native', askNative]]) {
        const { told: about } = await ask([{ do: 'start', task: 'copy', seed: 1, settings }]);
        if (about.error) throw new Error(about.error);
        await ask([{ do: 'step', steps: 3 }]);
        const { seconds } = await ask([{ do: 'step', steps }]);
        trains[who].push(steps * about.tokens_per_step / seconds);

        const questions = Array(exact ? 10 : 200).fill({ do: 'ask', text: about.question });
        const said = await ask(questions);
        generates[who].push(questions.length * said.told.words.length / said.seconds);

        parameters = about.parameters;
        if (who === 'native' || exact) continue;
        // Forward and backward: 6 operations for each parameter, 12 for each element of queries and keys.
        const width = Number(settings['model.n_embd'] ?? 64);
        const operations = 6 * about.parameters + 12 * about.layers * about.block * width;
        shares.push(trains.page.at(-1) * operations / await peakIn(js));
      }
    }
    const shown = list => Math.round(middle(list)).toLocaleString('en');
    const share = exact ? '-' : `${(100 * middle(shares)).toFixed(0)} %`;
    console.log(`${name}, ${parameters}: ${shown(trains.page)} | ${shown(trains.native)} | ${share}; ` +
      `${shown(generates.page)} | ${shown(generates.native)}`);
  }
});
program.stdin.end();
rmSync(folder, { recursive: true });
