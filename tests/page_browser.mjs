// The page in a real browser: node page_browser.mjs PAGE.html FOLDER, where screenshots are put.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { check, withBrowser } from './webdriver.mjs';

const page = `file://${resolve(process.argv[2])}`, folder = resolve(process.argv[3]);
mkdirSync(folder, { recursive: true });

await withBrowser('1400,1000', async ({ open, js, cdp, click, keys, until, screenshot }) => {
  const text = id => js('return document.getElementById(arguments[0]).textContent', id);
  const choose = (id, value) => js(`const e = document.getElementById(arguments[0]); e.value = arguments[1];
    e.dispatchEvent(new Event('change'))`, id, value);
  const idle = (sentence, seconds) => until(async () => await text('pause') === 'Go on', sentence, seconds);
  const silent = async () => check(await text('problem') === '', `the page complains: ${await text('problem')}`);
  const picture = name => screenshot().then(png => writeFileSync(`${folder}/${name}.png`, png));

  // It begins.
  await open(page);
  await until(async () => !await js('return document.getElementById("go").disabled'), 'the module does not come up', 30);
  console.log(await text('machine'));
  await silent();

  // The first two stations compute.
  await click('#station-act');
  await until(async () => (await text('station-text')).includes('e = 48'), 'the first station does not compute');
  await click('#stations button:nth-child(2)');
  await click('#station-act');
  await until(async () => (await text('station-text')).includes('%'), 'softmax does not compute');

  // Copying is learned, as far as it says.
  const begun = Date.now();
  await click('#go');
  await until(async () => /^\d+ of/.test(await text('step')) && !(await text('step')).startsWith('0 '), 'no step', 30);
  console.log(`first step after ${Date.now() - begun} ms`);
  const frames = await js(`return await new Promise(told => { let n = 0; const begin = performance.now();
    const next = () => { ++n; if (performance.now() - begin < 2000) requestAnimationFrame(next); else told(n / 2); };
    requestAnimationFrame(next); })`);
  console.log(`${frames} frames a second while it trains`);
  await idle('copying does not end', 120);
  await silent();
  console.log(`copy: ${await text('right')}; ${await text('speed')} tokens a second; weights ${await text('hash')}`);
  check((await text('right')).startsWith('1000 of 1000'), `copying ends with ${await text('right')}`);
  await picture('copy_light');
  await cdp('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  await picture('copy_dark');

  // Which head is needed? Without it answers are wrong, and with it right again.
  let fell = false;
  for (const name of await js('return [...document.querySelectorAll("#heads button")].map(b => b.dataset.head)')) {
    await click(`#heads button[data-head="${name}"]`);
    await click('#take');
    await until(async () => await text('take') === 'Put it back', 'the head stays');
    fell = fell || Number.parseInt(await text('right')) < 90;
    await click('#take');
    await until(async () => await text('take') === 'Take it out', 'the head does not come back');
    check(await text('right') === '100 %', `with all heads ${await text('right')} is right`);
  }
  check(fell, 'no head is needed');

  // A question, a step back, and on again to the same weights.
  await keys('#prompt', '');
  await click('#ask');
  await until(async () => (await text('answer')).length > 0, 'no answer');
  const hash = await text('hash');
  await choose('kept', '300');
  await click('#back');
  await until(async () => (await text('step')).startsWith('300 '), 'it does not go back', 20);
  check(await text('hash') !== hash, 'after 300 steps the weights are those of the end');
  await click('#pause');
  await idle('it does not go on', 120);
  check(await text('hash') === hash, `the second time the weights are ${await text('hash')}, not ${hash}`);

  // Every setting that is shown has a sentence; every control a name.
  const nameless = await js(`return [...document.querySelectorAll('input, select, button')].filter(e =>
    !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map(e => e.id)`);
  check(nameless.length === 0, `without a name: ${nameless}`);
  await click('#share');
  const shared = await js('return location.href');
  console.log(`link: ${shared.split('#')[1]}`);

  // The link is the model.
  await open('about:blank');
  await open(shared);
  await until(async () => (await text('hash')) === hash, 'the link has other weights', 120);
  await silent();

  // 400 pixels.
  await cdp('Emulation.setDeviceMetricsOverride', { width: 400, height: 800, deviceScaleFactor: 2, mobile: true });
  const width = await js('return document.documentElement.scrollWidth');
  await picture('narrow');
  check(width <= 400, `in a window of 400 pixels the page is ${width} wide`);
});
console.log('the page works in a browser');
