// The page's answers in Chromium: node page_losses.mjs PAGE.html fused|exact, requests as lines on standard input, answers as
// lines. With `exact` the browser has no fused multiply-add.
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { check, withBrowser } from './webdriver.mjs';

const [page, how] = process.argv.slice(2);
// The page starts its worker from a blob; an older browser refuses the module that the worker reads.
const older = `globalThis.Blob = class extends Blob {
  constructor(parts, options) {
    super(options?.type === 'text/javascript' ? ['WebAssembly.validate = () => false;', ...parts] : parts, options);
  }
};`;
await withBrowser('1200,800', async ({ open, js, cdp, until }) => {
  if (how === 'exact') await cdp('Page.addScriptToEvaluateOnNewDocument', { source: older });
  await open(`file://${resolve(page)}`);
  await until(() => js('return !document.getElementById("go").disabled'), 'the module does not come up', 30);
  const machine = await js('return document.getElementById("machine").textContent');
  check(machine.includes('is slow') === (how === 'exact'), machine);
  for await (const line of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await js('return await send(arguments[0])', JSON.parse(line))));
});
