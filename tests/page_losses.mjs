// The page's answers in Chromium: node page_losses.mjs PAGE.html fused|exact, requests as lines on standard input, answers as
// lines. With `exact` the browser has no fused multiply-add.
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { check, withBrowser, withoutFused } from './webdriver.mjs';

const [page, how] = process.argv.slice(2);
await withBrowser('1200,800', async ({ open, js, cdp, until }) => {
  if (how === 'exact') await withoutFused(cdp);
  await open(`file://${resolve(page)}`);
  await until(() => js('return !document.getElementById("go").disabled'), 'the module does not come up', 30);
  const machine = await js('return document.getElementById("machine").textContent');
  check(machine.includes('is slow') === (how === 'exact'), machine);
  for await (const line of createInterface({ input: process.stdin }))
    console.log(await js('return JSON.stringify(await send(arguments[0]))', JSON.parse(line)));
});
