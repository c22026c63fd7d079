// The page in a real browser: node page_browser.mjs PAGE.html FOLDER PROGRAMS. Screenshots and files go to FOLDER. PROGRAMS is
// the folder of the programs: `generate` reads what the page saved, and the page reads what `train` and `export` made.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { check, withBrowser } from './webdriver.mjs';

const page = `file://${resolve(process.argv[2])}`, folder = resolve(process.argv[3]);
const program = (name, ...words) => execFileSync(resolve(process.argv[4], name), words, { encoding: 'utf8' });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

await withBrowser('1400,1000', async ({ open, js, cdp, click, keys, until, away, screenshot }) => {
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

  // Station 8 takes it out and says what that does; the answers that are shown are then those without it.
  await click('#stations button:nth-child(8)');
  for (const n of [1, 2, 3, 4]) {  // in layer 0
    await click(`#heads button:nth-child(${n})`);
    await click('#station-act');
    await until(async () => (await text('station-text')).includes('of the answers are right'), 'station 8 says nothing');
  }
  check(await text('station-act') === 'Put the head back', 'station 8 would not put the head back');
  check((await text('samples')).includes('\u2717'), 'without heads the answers shown are right');
  for (const n of [1, 2, 3, 4]) {
    await click(`#heads button:nth-child(${n})`);
    const before = await text('take');
    await click('#take');
    await until(async () => await text('take') !== before, 'the head does not come back');
  }
  await until(async () => await text('right') === '100 %' && !(await text('samples')).includes('\u2717'),
    'with all heads not all is right');

  // The question that stands there, a step back, and on again to the same weights.
  const question = await js('return document.getElementById("prompt").value');
  await click('#ask');
  await until(async () => await text('answer') === question.slice(0, -1), `${question} is not answered`);
  const hash = await text('hash');
  await choose('kept', '300');
  await click('#back');
  await until(async () => (await text('step')).startsWith('300 '), 'it does not go back', 20);
  await until(async () => await text('hash') !== hash, 'after 300 steps the weights are those of the end', 20);
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

  // What was trained is a file that `generate` reads, and that the page opens.
  await cdp('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  await click('#save');
  const saved = `${folder}/mote-copy-600.safetensors`;
  await until(() => existsSync(saved), 'nothing is saved', 20);
  const said = program('generate', '--run', saved, '--prompt', 'abcdefghij|', '--temperature', '0');
  check(said.includes('abcdefghij|abcdefghi'), `generate says ${said}`);
  await keys('#file', saved);
  await until(async () => (await text('description')).includes('mote-copy-600'), 'the file is not opened', 20);
  await js('document.getElementById("prompt").value = "jihgfedcba|"');
  await click('#ask');
  await until(async () => (await text('answer')).startsWith('jihgfedcb'), 'the opened model does not copy', 20);
  await silent();

  // A file in GPT-2's layout has no vocabulary. Its weights are shown, and a question is refused in a sentence.
  program('train', '--preset', 'gpt2', '--n_head', '1', '--max_iters', '2', '--out_dir', `${folder}/run`);
  program('export', `${folder}/run`, '--to', 'huggingface', `${folder}/gpt2`);
  await keys('#file', `${folder}/gpt2/model.safetensors`);
  await until(async () => (await text('most')).startsWith('The largest weight'), 'the weights of the file are not shown', 20);
  await keys('#prompt', 'abc');
  await click('#ask');
  await until(async () => (await text('problem')).includes('no vocabulary'), 'a question without a vocabulary is no sentence');
  check(await text('chart') === '', 'a file has the chart of another run');

  // A text is learned; one that is too large, a broken file and a learning rate beyond all are a sentence each.
  writeFileSync(`${folder}/song.txt`, 'row, row, row your boat, gently down the stream.\n'.repeat(200));
  await keys('#file', `${folder}/song.txt`);
  await until(async () => Number.parseInt(await text('step')) > 20, 'a text is not learned', 60);
  await click('#pause');
  await silent();
  if (process.env.MOTE_DATA) {  // nanoGPT's run begins with the line that nanoGPT's README prints
    await keys('#file', `${process.env.MOTE_DATA}/tinyshakespeare.txt`);
    await until(async () => (await text('samples')).includes('step 0: train loss 4.1676, val loss 4.1649'),
      'nanoGPT\'s first line is another', 150);
    await until(async () => !await js('return document.getElementById("pause").disabled'), 'it cannot be paused');
    await click('#pause');
    await silent();
  }
  writeFileSync(`${folder}/large.txt`, Buffer.alloc(50e6, 'a'));
  await keys('#file', `${folder}/large.txt`);
  await until(async () => (await text('problem')).includes('50 MB'), 'a text of 50 MB is not refused');
  writeFileSync(`${folder}/broken.safetensors`, 'no model');
  await keys('#file', `${folder}/broken.safetensors`);
  await until(async () => (await text('problem')).includes('broken') || (await text('problem')).includes('header'),
    `a broken file is not refused: ${await text('problem')}`);
  rmSync(`${folder}/large.txt`);
  await choose('task', 'copy');
  await until(async () => (await text('description')).includes('symbols'), 'the task does not change');
  await js('document.getElementById("set-training.learning_rate").value = "1e30"');
  await click('#go');
  await until(async () => /finite|NaN|infinit/.test(await text('problem')), 'numbers that explode are no sentence', 60);

  // Every control: with another value a model trains, or a sentence says why it cannot.
  await choose('task', 'copy');
  await until(async () => await js('return document.getElementById("set-training.learning_rate").value') !== '1e30',
    'another task keeps settings');
  const controls = await js(`return [...document.querySelectorAll('[data-name]')].map(e => [e.id, e.value,
    e.options ? [...e.options].map(o => o.value) : null])`);
  let trained = 0;
  for (const [id, value, words] of controls) {
    const others = words ? words.filter(w => w !== value) : [String(2 * Number(value) || 1)];
    for (const other of others) {
      await choose('task', 'copy');
      await until(async () => await js('return document.getElementById(arguments[0]).value', id) === value, `${id} is not reset`);
      await choose(id, other);
      await js('window.before = state.about');
      await click('#go');
      await until(async () => await js('return state.about !== before && state.step > 1') || await text('problem'),
        `${id} = ${other}: nothing happens`, 60);
      const said = await text('problem');
      if (said) console.log(`${id.slice(4)} = ${other}: ${said}`);
      else ++trained;
    }
  }
  console.log(`${controls.length} controls; with ${trained} other values a model trains`);

  // In the background it trains on, and says so; then sorting is learned to its end.
  await choose('task', 'sort');
  await until(async () => (await text('description')).includes('sort'), 'the task does not change');
  await click('#go');
  await until(async () => Number.parseInt(await text('step')) > 20, 'sorting does not begin', 20);
  const before = Number.parseInt(await text('step'));
  await away(3);
  await until(async () => (await text('away')).startsWith('While this tab was in the background'), 'it does not say that it was away');
  console.log(await text('away'));
  check(Number.parseInt(await text('step')) > before, 'in the background nothing happens');
  await idle('sorting does not end', 300);
  console.log(`sort: ${await text('right')}`);
  check((await text('right')).startsWith('5000 of 5000'), `sorting ends with ${await text('right')}`);
  await silent();

  // By keyboard alone: a model is trained, a head is chosen and taken out.
  const press = async key => {
    for (const type of ['keyDown', 'keyUp'])
      await cdp('Input.dispatchKeyEvent', { type, key, windowsVirtualKeyCode: { Tab: 9, Enter: 13 }[key], text: key === 'Enter' ? '\r' : '' });
  };
  const pressOn = async (what, condition) => {
    await until(async () => {
      await press('Tab');
      return js(`return document.activeElement.${condition}`);
    }, `Tab does not reach ${what}`, 30);
    await press('Enter');
  };
  await open('about:blank');
  await open(page);
  await until(async () => !await js('return document.getElementById("go").disabled'), 'the module does not come up', 30);
  await pressOn('Train', 'id === "go"');
  await until(async () => Number.parseInt(await text('step')) > 2, 'Enter does not train', 20);
  await pressOn('a head', 'dataset.head === "1.2"');
  await until(async () => await text('large-name') === 'layer 1, head 2', 'Enter does not choose a head');
  await pressOn('Take it out', 'id === "take"');
  await until(async () => await text('take') === 'Put it back', 'Enter does not take a head out');
  await silent();

  // 400 pixels.
  await cdp('Emulation.setDeviceMetricsOverride', { width: 400, height: 800, deviceScaleFactor: 2, mobile: true });
  const width = await js('return document.documentElement.scrollWidth');
  await picture('narrow');
  check(width <= 400, `in a window of 400 pixels the page is ${width} wide`);
});
console.log('the page works in a browser');
