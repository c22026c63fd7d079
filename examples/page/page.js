// The page. It sends requests to the worker and shows the answers. All results are computed by mote.
'use strict';
const by = id => document.getElementById(id);
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const state = {
  task: 'copy', seed: 1, settings: {}, slow: false, about: null, running: false, step: 0, head: [0, 0], out: new Set(), kept: [],
  looked: null, wanted: null, started: 0, tokens: 0, chunk: 1,
};

// ---- the worker: one request after the other

const pending = new Map();
let worker = null, next = 0;
const send = (message, transfer = []) => new Promise(resolve => {
  pending.set(++next, resolve);
  worker.postMessage({id: next, message}, transfer);
});
/// Shows a problem. The first problem stays until the user does something else, because later ones follow from it.
const problem = text => {
  if (!text || !by('problem').textContent) by('problem').textContent = text;
};
/// Returns the module's answer to a request. An error is shown, and null is returned.
const ask = async request => {
  const told = await send(request);
  if (!told.error) return told;
  problem(told.error);
  return null;
};

/// Like ask, for a request about the shown model. Returns null if another model is shown when the answer comes.
const askHere = async request => {
  const mine = state.about, told = await ask(request);
  return state.about === mine ? told : null;
};

const unpack = async () => {
  const packed = Uint8Array.from(atob(by('module').textContent), c => c.charCodeAt(0));
  by('module').remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
};

const begin = async () => {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function')
    return problem('This browser is too old for this page: it lacks WebAssembly or DecompressionStream.');
  const bytes = await unpack();
  worker = new Worker(URL.createObjectURL(new Blob([by('worker').textContent], {type: 'text/javascript'})));
  worker.onmessage = event => {
    pending.get(event.data.id)(event.data.answer);
    pending.delete(event.data.id);
  };
  worker.onerror = event => problem('the worker has stopped: ' + event.message);
  const told = await send({module: bytes}, [bytes]);
  if (told.error) return problem(told.error);
  for (const name of told.tasks) by('task').add(new Option(name, name));
  state.slow = !told.fused;
  by('machine').textContent = (told.fused ?
    'This browser is fast: it has a fused multiply-add.' :
    'This browser is slow, because it has no fused multiply-add. The same bits are computed without it. So that a ' +
    'training ends soon, widths are half as large at first, and batches a quarter; hard tasks then need more steps.') +
    ' (mote ' + told.version + ', kernels ' + told.kernels + ')';
  by('go').disabled = false;
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has('task')) await openLink(given);
  else await chooseTask('copy', await quick('copy', {}));
  showStation(0);
};

// ---- settings

const usual = ['n_layer', 'n_head', 'n_embd', 'position', 'norm', 'activation', 'optimizer', 'max_iters', 'batch_size', 'learning_rate', 'seed'];
const field = (group, f, value) => {
  const label = document.createElement('label'), input = document.createElement(f.words ? 'select' : 'input');
  input.id = 'set-' + group + '.' + f.name;
  const words = f.words ? f.words.split('|') : [];
  if (f.words && !words.includes(f.value)) words.unshift(f.value);
  for (const word of words) input.add(new Option(word, word));
  input.value = value;
  input.dataset.name = group + '.' + f.name;
  input.dataset.usual = f.value;
  const help = document.createElement('small');
  help.textContent = f.help;
  help.id = input.id + '-help';
  input.setAttribute('aria-describedby', help.id);
  label.append(f.name, input, help);
  return label;
};

/// Shows the settings of a task. Values in `settings` are shown in the place of the task's own values.
const chooseTask = async (task, settings) => {
  const told = await ask({do: 'defaults', task});
  if (!told) return false;
  state.task = task;
  by('task').value = task;
  by('description').textContent = told.description;
  const outcome = told.outcome.replace('>=', 'at least').replace('<=', 'at most');
  by('outcome').textContent = 'With the task\'s own settings ' + (outcome.startsWith('loss') ?
    'the held-out loss falls to ' + outcome.slice(5) : outcome + ' of the held-out answers are right') + '.';
  for (const id of ['model-fields', 'training-fields', 'more-fields']) by(id).replaceChildren();
  const seed = {name: 'seed', value: '1', help: 'of weights, batches and questions', words: ''};
  const groups = [['model', told.model], ['training', [seed, ...told.training]], ['task', told.task]];
  for (const [group, fields] of groups)
    for (const f of fields) {
      const name = group + '.' + f.name, value = f.name === 'seed' ? String(state.seed) : settings[name] ?? f.value;
      by(usual.includes(f.name) ? group + '-fields' : 'more-fields').append(field(group, f, value));
    }
  return true;
};
/// Settings for a first try. In a slow browser the width and the batch size are smaller than the task's own. A link does
/// not use these settings, so it trains the same model in every browser.
const quick = async (task, settings) => {
  if (!state.slow) return settings;
  const told = await ask({do: 'defaults', task});
  if (!told) return settings;
  const own = name => Number([...told.model, ...told.training].find(f => f.name === name).value);
  return {
    'model.n_embd': String(own('n_embd') / 2),
    'training.batch_size': String(Math.ceil(own('batch_size') / 4)),
    ...settings,
  };
};
/// The settings that differ from the task's own. The seed is stored in state.seed instead.
const chosen = () => {
  const settings = {};
  for (const input of document.querySelectorAll('[data-name]')) {
    if (input.dataset.name === 'training.seed') state.seed = Number(input.value);
    else if (input.value !== input.dataset.usual) settings[input.dataset.name] = input.value;
  }
  return settings;
};

// ---- training

const enable = () => {
  const run = state.about !== null && state.about.max_iters !== undefined, any = state.about !== null;
  by('pause').disabled = !run || state.running === null;
  by('pause').textContent = state.running ? 'Pause' : 'Go on';
  by('one').disabled = !run || state.running;
  for (const id of ['save', 'share', 'draw']) by(id).disabled = !run || state.about.nanogpt === true;
  for (const id of ['ask', 'take']) by(id).disabled = !any;
  by('back').disabled = by('kept').disabled = !run || state.kept.length === 0;
};

const showAbout = about => {
  state.about = about;
  state.running = false;  // a loop that still trains another model ends by itself
  state.step = about.step;
  state.kept = [];
  state.out.clear();
  state.head = [Math.min(state.head[0], about.layers - 1), Math.min(state.head[1], about.heads - 1)];
  if (about.description) by('description').textContent = about.description;
  by('parameters').textContent = about.parameters.toLocaleString('en');
  for (const id of ['samples', 'large', 'lens', 'best']) by(id).replaceChildren();
  by('right').textContent = by('loss').textContent = by('speed').textContent = '-';
  by('prompt').value = about.question ?? '';
  by('matrix').replaceChildren(...about.matrices.map(name => new Option(name, name)));
  by('answer').textContent = '';
  drawGrid();
  enable();
};

const startRun = async () => {
  state.running = false;
  by('away').textContent = '';
  state.settings = chosen();
  problem('');
  const told = await ask({do: 'start', task: state.task, seed: state.seed, settings: state.settings});
  if (!told) return false;
  state.chunk = 1;
  showAbout(told);
  return true;
};

const showStep = told => {
  state.step = told.step;
  state.kept = told.kept;
  by('step').textContent = told.step + (state.about.max_iters ? ' of ' + state.about.max_iters : '');
  if (told.losses.length) by('loss').textContent = told.losses.at(-1).toFixed(4);
  told.evaluations.forEach(showAnswers);
  if (told.end?.text) by('right').textContent = told.end.text;
  const old = by('kept').value;
  by('kept').replaceChildren(...told.kept.map(k => new Option(k, k)));
  if (told.kept.map(String).includes(old)) by('kept').value = old;
};
const showAnswers = told => {
  if (told.exact !== undefined) by('right').textContent = (100 * told.exact).toFixed(0) + ' %';
  if (told.samples) by('samples').replaceChildren(...told.samples.map(sample));
};
const sample = s => {
  const row = document.createElement('tr');
  for (const [text, kind] of [[s.question, ''], [s.answer, s.right === undefined ? '' : s.right ? 'right' : 'wrong']]) {
    const cell = row.insertCell();
    cell.textContent = text + (kind === 'right' ? ' \u2713' : kind === 'wrong' ? ' \u2717' : '');
    cell.className = kind;
  }
  return row;
};

/// Trains until step `last`, the end of the run, or a pause. A request takes about a tenth of a second, so a pause takes
/// effect soon.
const train = async (last = Infinity) => {
  if (state.running) return;
  state.running = true;
  enable();
  const mine = state.about;
  let drawn = 0, first = state.step, since = performance.now();
  while (state.running && state.about === mine && state.step < last) {
    const begun = performance.now();
    const told = await ask({do: 'step', steps: Math.max(1, Math.min(state.chunk, last - state.step))});
    if (!told || state.about !== mine) break;
    const took = performance.now() - begun;
    state.chunk = Math.max(1, Math.min(500, Math.round(state.chunk * Math.min(2, 80 / Math.max(1, took)))));
    showStep(told);
    const seconds = (performance.now() - since) / 1000;
    if (seconds > 0.5) {
      by('speed').textContent = Math.round((state.step - first) * mine.tokens_per_step / seconds).toLocaleString('en');
      first = state.step;
      since = performance.now();
    }
    if (performance.now() - drawn > 400 || told.done) {
      await lookAgain();
      drawn = performance.now();
    }
    if (told.done) break;
  }
  if (state.about === mine) state.running = false;
  await lookAgain();
  await showHash();
  enable();
};
const showHash = async () => {
  const told = state.about && await askHere({do: 'hash'});
  if (told) by('hash').textContent = told.hash;
};

// ---- looking

const viridis = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 145, 140], [40, 174, 128], [94, 201, 98], [173, 220, 48], [253, 231, 37]];
const colour = level => {
  const at = Math.min(7.999, Math.max(0, level) * 8), i = Math.floor(at), f = at - i;
  return viridis[i].map((c, k) => Math.round(c + f * (viridis[i + 1][k] - c)));
};
const twoSided = level => {  // -1: red, 0: the middle, 1: blue
  const v = Math.min(1, Math.abs(level)), dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const middle = dark ? [24, 30, 37] : [255, 255, 255], end = level < 0 ? [214, 64, 46] : [46, 110, 214];
  return middle.map((c, k) => Math.round(c + v * (end[k] - c)));
};
const paint = (canvas, rows, columns, at) => {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d'), image = context.createImageData(columns, rows);
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < columns; ++j) image.data.set([...at(i, j), 255], 4 * (i * columns + j));
  context.putImageData(image, 0, 0);
};

const drawGrid = () => {
  const buttons = [];
  for (let layer = 0; layer < state.about.layers; ++layer)
    for (let head = 0; head < state.about.heads; ++head) {
      const button = document.createElement('button'), canvas = document.createElement('canvas');
      button.dataset.head = layer + '.' + head;
      button.append(canvas, 'layer ' + layer + ', head ' + head);
      button.onclick = () => {
        state.head = [layer, head];
        lookAgain();
      };
      buttons.push(button);
    }
  by('heads').replaceChildren(...buttons);
};

let looking = false, again = false;
/// Asks what the heads look at now, and draws the answer. Calls that come meanwhile become one call afterwards.
const lookAgain = async () => {
  if (looking) {
    again = true;
    return;
  }
  if (!state.about) return;
  looking = true;
  const trains = state.about.max_iters !== undefined, request = {do: 'look', layer: state.head[0], head: state.head[1]};
  if (!trains) request.text = by('prompt').value;
  const chart = trains && await askHere({do: 'chart'}), told = (trains || request.text) && await askHere(request);
  if (chart || !trains) by('chart').innerHTML = chart ? chart.svg : '';
  if (told) showLook(told);
  await showWeights();
  looking = false;
  if (again) {
    again = false;
    await lookAgain();
  }
};
const showLook = told => {
  state.looked = told;
  for (const button of by('heads').children) {
    const [layer, head] = button.dataset.head.split('.').map(Number), rows = told.layers[layer][head].split(':')[1].split(' ');
    paint(button.firstChild, rows.length, rows.length, (i, j) => colour(Math.max(0, letters.indexOf(rows[i][j])) / 63));
    button.setAttribute('aria-pressed', layer === state.head[0] && head === state.head[1]);
    button.classList.toggle('out', state.out.has(button.dataset.head));
  }
  by('best').textContent = state.out.size === 0 && told.best ? 'The clearest: ' + told.best.replace('attention: ', '') + '.' : '';
  showLarge();
  labelStation();
  const lens = by('lens');
  lens.replaceChildren();
  const above = lens.insertRow();
  above.append(document.createElement('th'), ...told.tokens.map(header));
  told.lens.forEach((row, layer) => {
    const line = lens.insertRow();
    line.append(header(layer === 0 ? 'before' : 'layer ' + (layer - 1)));
    for (const [word, p] of row) {
      const cell = line.insertCell();
      cell.textContent = word;
      cell.title = (100 * p).toFixed(0) + ' %';
      cell.style.background = 'color-mix(in srgb, var(--accent) ' + Math.round(45 * p) + '%, transparent)';
    }
  });
};
const header = text => {
  const cell = document.createElement('th');
  cell.textContent = text;
  return cell;
};
const showLarge = () => {
  const told = state.looked, name = state.head.join('.'), view = by('view').value, rows = told[view] ?? [];
  by('large-name').textContent = 'layer ' + state.head[0] + ', head ' + state.head[1];
  by('take').textContent = state.out.has(name) ? 'Put it back' : 'Take it out';
  const table = by('large');
  table.replaceChildren();
  const above = table.insertRow();
  above.append(document.createElement('th'), ...(view === 'values' ? rows[0] ?? [] : told.tokens).map((t, j) => header(view === 'values' ? j : t)));
  const most = Math.max(1e-9, ...rows.flat().map(x => Math.abs(x ?? 0)));
  rows.forEach((row, i) => {
    const line = table.insertRow();
    line.append(header(told.tokens[i]));
    row.forEach((x, j) => {
      const cell = line.insertCell();
      if (x === null || (view !== 'values' && j > i)) return;
      cell.style.background = 'rgb(' + (view === 'weights' ? colour(x) : twoSided(x / most)) + ')';
      cell.title = told.tokens[i] + (view === 'values' ? ', number ' + j : ' reads ' + told.tokens[j]) + ': ' + x;
    });
  });
};
const showWeights = async () => {
  if (!by('matrix').value || by('matrix').options.length === 0) return;
  const told = await askHere({do: 'weights', name: by('matrix').value});
  if (!told) return;
  const draw = (canvas, part) => {
    const columns = Math.max(told.columns, Math.min(told.rows, 256)), turned = columns !== told.columns;
    paint(canvas, turned ? told.columns : told.rows, turned ? told.rows : told.columns,
      (i, j) => twoSided(letters.indexOf(part.letters[turned ? j * told.columns + i : i * told.columns + j]) / 31.5 - 1));
  };
  draw(by('weights'), told.weights);
  by('most').textContent = 'The largest weight is ' + told.weights.most.toPrecision(3) +
    (told.gradient ? ', the largest gradient ' + told.gradient.most.toPrecision(3) : '') + '.';
  if (told.gradient) draw(by('gradient'), told.gradient);
};

/// Asks the questions again without the heads that are out.
const askWithout = async () => {
  const told = await askHere({do: 'take_out', heads: [...state.out]});
  if (told) showAnswers(told);
  await lookAgain();
  return told;
};
const toggleHead = async () => {
  problem('');
  if (!state.about) return 'There is no model yet: train one first.';
  const name = state.head.join('.');
  if (!state.out.delete(name)) state.out.add(name);
  const told = await askWithout();
  if (told?.exact === undefined) return;
  const out = [...state.out].map(n => 'head ' + n.split('.')[1] + ' of layer ' + n.split('.')[0]).join(', ');
  return (out ? 'Without ' + out : 'With all heads') + ': ' + (100 * told.exact).toFixed(0) + ' % of the answers are right.';
};

const askModel = async () => {
  problem('');
  by('answer').textContent = '';
  const told = await askHere({do: 'ask', text: by('prompt').value});
  if (told) by('answer').textContent = told.answer ?? told.words.join('');
  if (told && state.about.max_iters === undefined) await lookAgain();
};

// ---- links and files

const link = () => {
  const parts = new URLSearchParams({task: state.task, seed: state.seed, step: state.step});
  for (const [name, value] of Object.entries(state.settings)) parts.set(name, value);
  if (state.out.size) parts.set('out', [...state.out].join(','));
  return location.href.split('#')[0] + '#' + parts;
};
const openLink = async given => {
  const settings = {};
  for (const [name, value] of given) if (name.includes('.')) settings[name] = value;
  state.seed = Number(given.get('seed') ?? 1);
  if (!await chooseTask(given.get('task'), settings) || !await startRun()) return;
  await train(Number(given.get('step') ?? Infinity));
  state.out = new Set((given.get('out') ?? '').split(',').filter(Boolean));
  if (state.out.size) await askWithout();
};

const openFile = async file => {
  problem('');
  if (file.size > 200e6) return problem(file.name + ' has ' + Math.round(file.size / 1e6) + ' MB: this page opens up to 200.');
  const isModel = /\.safetensors$/.test(file.name);
  if (!isModel && file.size > 20e6)
    return problem(file.name + ' has ' + Math.round(file.size / 1e6) + ' MB: this page learns texts of up to 20. `train --text` learns larger ones.');
  const bytes = await file.arrayBuffer(), path = '/' + (isModel ? 'model' + /\.\w+$/.exec(file.name)[0] : 'text.txt');
  const put = await send({put: path, bytes}, [bytes]);
  if (put.error) return problem(put.error);
  if (isModel) {
    state.running = false;
    const told = await ask({do: 'open', path});
    if (!told) return;
    showAbout(told);
    by('description').textContent = file.name + (told.description ? ': ' + told.description : '');
    return lookAgain();
  }
  state.running = false;
  if (!await chooseTask('text', await quick('text', {'task.text': path}))) return;
  if (file.size === 1115394) return startNanogpt(path);
  if (await startRun()) train();
};
/// Starts nanoGPT's run for a computer without a GPU, on Tiny Shakespeare. nanoGPT's README prints lines of this run. The
/// button Train begins mote's own run instead.
const startNanogpt = async path => {
  const told = await ask({do: 'nanogpt', path});
  if (!told) return;
  showAbout(told);
  by('description').textContent = 'nanoGPT\'s run without a GPU. Its README prints: step 0: train loss 4.1676, val loss 4.1649; iter 0: loss 4.1828.';
  train();
};
const saveModel = async () => {
  const told = await askHere({do: 'save'});
  if (!told) return;
  const {bytes} = await send({get: told.path}), a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([bytes]));
  a.download = 'mote-' + state.task + '-' + told.step + '.safetensors';
  a.click();
};

// ---- stations

/// What a station's button does. A function returns what the station says afterwards, if there is something to say.
const page = {
  begin: async (task, settings) => {
    state.running = false;
    if (!await chooseTask(task, await quick(task, settings)) || !await startRun()) return;
    const mine = state.about;
    await train();
    return state.about === mine && 'Training has stopped at step ' + state.step + ': ' + by('right').textContent + ' right.';
  },
  expression: async (a, b) => {
    const told = await ask({do: 'expression', a, b});
    if (!told) return;
    const picture = document.createElement('div');
    picture.innerHTML = told.svg;
    by('station-text').append(picture);
    const grows = (name, d) => 'If ' + name + ' grows by 0.01, e grows by about ' + (d / 100).toFixed(2) + ': its gradient is ' + d + '. ';
    return 'e = ' + told.value + '. ' + grows('a', told.da) + grows('b', told.db);
  },
  softmax: async scores => {
    const told = await ask({do: 'softmax', scores});
    if (!told) return;
    const bars = document.createElement('div');
    bars.className = 'bars';
    told.weights.forEach((p, i) => {
      const bar = document.createElement('i');
      bar.style.width = 100 * p + '%';
      const [score, share] = ['score ' + scores[i], (100 * p).toFixed(1) + ' %'].map(text => {
        const span = document.createElement('span');
        span.textContent = text;
        return span;
      });
      bars.append(score, bar, share);
    });
    by('station-text').append(bars);
  },
  drawGraph: async () => {
    if (!state.about?.max_iters && !await startRun()) return;
    const told = await askHere({do: 'graph'});
    if (told) by('graph').innerHTML = told.svg;
  },
  toggleHead,
  isOut: () => state.out.has(state.head.join('.')),
};
let shown = 0, labelStation = () => {};
const showStation = at => {
  shown = at;
  by('stations').replaceChildren(...stations.map((s, i) => {
    const button = document.createElement('button');
    button.textContent = i + 1 + ' ' + s.title;
    if (i === at) button.setAttribute('aria-current', 'step');
    button.onclick = () => showStation(i);
    return button;
  }));
  const s = stations[at], act = document.createElement('button'), result = document.createElement('p');
  const paragraphs = s.text.map(text => {
    const p = document.createElement('p');
    p.textContent = text;
    return p;
  });
  labelStation = () => { act.textContent = typeof s.button === 'function' ? s.button(page) : s.button; };
  labelStation();
  act.className = 'main';
  act.id = 'station-act';
  result.id = 'station-result';
  act.onclick = async () => {
    by('station-text').replaceChildren(...paragraphs, act, result);
    result.textContent = '';
    if (s.look) {
      const there = document.createElement('button');
      there.textContent = 'Show me';
      there.onclick = () => by(s.look).scrollIntoView({block: 'start', behavior: 'smooth'});
      result.append('See below: ', there);
    }
    const said = await s.act(page);
    if (shown === at) labelStation();
    if (said) result.prepend(said + ' ');
  };
  by('station-text').replaceChildren(...paragraphs, act, result);
};

// ---- what the page's buttons do

by('task').onchange = async () => {
  problem('');
  const task = by('task').value;
  chooseTask(task, await quick(task, {}));
};
by('go').onclick = async () => { if (await startRun()) train(); };
by('pause').onclick = () => {
  if (state.running) state.running = false;
  else train();
};
by('one').onclick = () => train(state.step + 1);
by('back').onclick = async () => {
  problem('');
  state.running = false;
  const told = await ask({do: 'back', step: Number(by('kept').value)});
  if (!told) return;
  showAbout(told);
  by('step').textContent = told.step + ' of ' + told.max_iters;
  await lookAgain();
  await showHash();
};
by('share').onclick = async () => {
  history.replaceState(null, '', link());
  try {
    await navigator.clipboard.writeText(link());
    by('share').textContent = 'Copied';
  } catch {
    by('share').textContent = 'It is in the address bar';
  }
};
by('save').onclick = saveModel;
by('ask').onclick = askModel;
by('prompt').onkeydown = event => { if (event.key === 'Enter') askModel(); };
by('take').onclick = () => (stations[shown].act === takeOut ? by('station-act').click() : toggleHead());
by('draw').onclick = page.drawGraph;
by('view').onchange = showLarge;
by('matrix').onchange = showWeights;
by('file').onchange = () => by('file').files[0] && openFile(by('file').files[0]);
by('drop').ondragover = event => {
  event.preventDefault();
  by('drop').classList.add('over');
};
by('drop').ondragleave = () => by('drop').classList.remove('over');
by('drop').ondrop = event => {
  event.preventDefault();
  by('drop').classList.remove('over');
  if (event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
};
// A tab in the background goes on training. A user who comes back is told how far it has trained.
let left = 0;
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && state.about && state.step > left)
    by('away').textContent = 'While this tab was in the background, it trained from step ' + left + ' to step ' + state.step + '.';
  left = state.step;
});
begin();
