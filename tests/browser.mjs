// The report of a run in a real browser: its slider, its buttons, its keys, both themes, a narrow window; nothing is
// fetched, nothing that came from data is executed, nothing complains. node browser.mjs TRAIN FOLDER; chromedriver and
// chromium lie in the path.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { check, withBrowser } from './webdriver.mjs';

const train = resolve(process.argv[2]), folder = resolve(process.argv[3]);

// A text whose tokens, samples, name and settings try to become part of the page.
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const hostile = '</script><script>window.hacked=1</script>"\' <!-- &lt; \\u003c <img src=x onerror=window.hacked=2> ' +
  '\u202eright\u202c \u0007 caf\u00e9 \ud83d\ude00';
writeFileSync(`${folder}/<img src=x onerror=window.hacked=3> \u202e"'.txt`, `${hostile}\n`.repeat(60));
const run = `${folder}/<b onclick=window.hacked=4>"'\u202e run`;
execFileSync(train, ['--text', `${folder}/<img src=x onerror=window.hacked=3> \u202e"'.txt`, '--tokenizer', 'bpe',
  '--vocab_size', '320', '--max_iters', '200', '--eval_interval', '50', '--n_layer', '2', '--n_head', '2', '--n_embd',
  '32', '--block_size', '24', '--learning_rate', '0.01', '--warmup_iters', '10', '--out_dir', run]);

await withBrowser('1200,900', async ({ open, js, cdp, pointer, click, keys, until }) => {
  const picture = () => js('return [...document.querySelectorAll("#heads canvas")].map(c => c.toDataURL()).join()');
  const step = () => js('return document.getElementById("heads-now").textContent');
  const page = `file://${encodeURI(`${run}/report.html`).replaceAll('#', '%23').replaceAll('?', '%3F')}`;
  await open(page);

  // The slider begins at the last evaluation; keys and a click move it, and the pictures with it.
  check(await step() === 'after 200 steps', `the slider begins ${await step()}`);
  const last = await picture();
  await keys('#heads-step', '\ue012');  // left
  check(await step() === 'after 150 steps', `one key to the left it is ${await step()}`);
  check(await picture() !== last, 'the slider changed no picture');
  await keys('#heads-step', '\ue011');  // home
  check(await step() === 'after 0 steps', `the first moment is ${await step()}`);
  await keys('#heads-step', '\ue010');  // end
  check(await picture() === last, 'back at the end the pictures are others');

  // Play goes from the first moment to the last, and stops; a second click stops it at once; a key presses it as well.
  const label = () => js('return document.getElementById("heads-play").textContent');
  await click('#heads-play');
  check(await label() === 'Pause' && await step() === 'after 0 steps', 'Play does not begin at the first moment');
  await until(async () => await label() === 'Play', 'Play does not end');
  check(await step() === 'after 200 steps', `Play ends ${await step()}`);
  await keys('#heads-play', ' ');
  check(await label() === 'Pause', 'the space bar does not press Play');
  await click('#heads-play');
  check(await label() === 'Play' && await step() !== 'after 200 steps', 'a second click does not stop it');
  await keys('#heads-step', '\ue010');

  // A cell is read by pointing at it; beside the triangle there is nothing to read.
  const said = () => js('return document.getElementById("heads-said").textContent');
  const box = await js('const c = document.querySelector("#heads canvas"); c.scrollIntoView();' +
    'const b = c.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]');
  const at = (x, y) => pointer({ type: 'pointerMove', duration: 0, x: Math.round(box[0] + x * box[2]),
    y: Math.round(box[1] + y * box[3]) });
  await at(0.6, 0.7);
  check(/^layer 0, head 0: .* \(position \d+\) gives .* \(position \d+\) [01]\.\d\d$/s.test(await said()),
    `pointing at a cell says '${await said()}'`);
  await at(0.97, 0.1);
  check((await said()).trim() === '', `beside the triangle it says '${await said()}'`);

  // What it says of a cell is what the log has, and in the colour of that weight, in every head.
  const { colours } = await js('return JSON.parse(document.getElementById("heads-data").textContent)');
  const log = readFileSync(`${run}/evaluations.jsonl`, 'utf8').trim().split('\n').map(JSON.parse).at(-1).heads.flat();
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const [head, text] of log.entries()) {
    const rows = text.split(':')[1].split(' ');
    const cells = await js(`
      const canvas = document.querySelectorAll('#heads canvas')[arguments[0]], found = [];
      const box = canvas.getBoundingClientRect(), sharp = canvas.width / box.width;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      for (let y = 1; y < box.height; y += 5)
        for (let x = 1; x < box.width; x += 5) {
          canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + y }));
          const said = document.getElementById('heads-said').textContent;
          const [, q, k, weight] = /position (\\d+)\\) gives .* \\(position (\\d+)\\) ([01]\\.\\d\\d)$/s.exec(said) || [];
          const at = 4 * (Math.floor(y * sharp) * canvas.width + Math.floor(x * sharp));
          const colour = '#' + [...data.slice(at, at + 3)].map(v => v.toString(16).padStart(2, '0')).join('');
          if (weight) found.push([+q, +k, weight, colour]);
        }
      return found`, head);
    check(cells.length > rows.join('').length, `only ${cells.length} points of a head say something`);
    for (const [q, k, weight, colour] of cells) {
      const level = letters.indexOf(rows[q][k] ?? 'A');
      check(weight === (level / 63).toFixed(2), `head ${head} says ${weight}`);
      check(colour === colours[level], `head ${head} has a cell of weight ${weight} in ${colour}`);
    }
  }

  // Both themes: other colours, each with text that can be read.
  const contrast = () => js(`
    const light = c => c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    return [...document.querySelectorAll('h1, p, td, th, dt, dd, summary, figcaption, .chart text, svg text')]
      .filter(e => e.textContent.trim() && e.getClientRects().length).map(e => {
        let back = e;
        while (getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
        const svg = e instanceof SVGElement, style = getComputedStyle(e);
        const a = light(svg ? style.fill : style.color), b = light(getComputedStyle(back).backgroundColor);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      }).reduce((least, c) => Math.min(least, c), 21)`);
  const ground = () => js('return getComputedStyle(document.body).backgroundColor');
  let before = [];
  for (const value of ['light', 'dark']) {
    await cdp('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    await until(async () => await ground() !== before[0] && await picture() !== before[1],  // the page is told later
      'both themes have one background, or one ink');
    before = [await ground(), await picture()];
    const least = await contrast();
    check(least >= 4.5, `${value}: a text has a contrast of ${least.toFixed(2)}, less than 4.5`);
  }

  // 400 pixels: the page is no wider, and what is wider scrolls within it.
  await cdp('Emulation.setDeviceMetricsOverride', { width: 400, height: 800, deviceScaleFactor: 2, mobile: true });
  const width = await js('return document.documentElement.scrollWidth');
  check(width <= 400, `in a window of 400 pixels the page is ${width} wide`);

  // Texts are texts.
  check(await js('return window.hacked === undefined'), 'something that came from data was executed');
  check(await js('return document.querySelectorAll("img, iframe, object, link, b").length') === 0,
    'data became elements');
  check(await js('return document.scripts.length') === 2, 'data became a script');
  for (const shown of ['</script><script>', 'window.hacked=3>'])
    check(await js('return document.body.textContent.includes(arguments[0])', shown), `${shown} is not shown`);
  check(!await js('return /[\\u202a-\\u202e\\u2066-\\u2069\\u0007]/.test(document.documentElement.textContent)'),
    'a control character or a direction mark came through');
});
console.log('the report works in a browser');
