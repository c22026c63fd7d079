// The fixed parts of a report's page: its style, and the script that draws what heads attend to.
#pragma once

namespace mote::detail {

inline constexpr const char* report_style = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1c2733;--quiet:#566270;--rule:#dfe4ea;--good:#15702f;--bad:#b42318}
@media(prefers-color-scheme:dark){:root{--page:#0f1317;--card:#181e25;--ink:#e4e9ef;--quiet:#a3afbc;--rule:#39434e;--good:#6ddc8f;--bad:#ff9488}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1240px;margin:0 auto;padding:20px 16px 48px}
h1{margin:0;font-size:26px;line-height:1.25;overflow-wrap:anywhere}h2{margin:0 0 8px;font-size:18px}
p{margin:4px 0 12px}.quiet{color:var(--quiet)}
section{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:16px;margin-top:16px;min-width:0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0 0}
.facts div{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}
.facts dt{color:var(--quiet);font-size:14px}.facts dd{margin:0;font-size:20px;font-weight:600;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:16px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:15px}
th,td{text-align:left;vertical-align:top;padding:4px 16px 4px 0;border-bottom:1px solid var(--rule)}
th{font-weight:600;color:var(--quiet)}
td{font-family:ui-monospace,monospace;font-size:14px;white-space:pre-wrap;overflow-wrap:anywhere;min-width:4em}
td:last-child:not(:only-child){overflow-wrap:break-word}
pre{margin:0;font:14px/1.45 ui-monospace,monospace;overflow-x:auto}
details summary{cursor:pointer;font-weight:600}details[open] summary{margin-bottom:8px}
.settings{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(300px,100%),1fr));gap:16px}
.settings h3{margin:0 0 4px;font-size:16px}.settings td:last-child:not(:only-child){overflow-wrap:anywhere}
.bar{display:flex;flex-wrap:wrap;align-items:center;gap:8px 14px;margin-bottom:8px}
.bar input{flex:1 1 220px;min-width:160px}.bar output{min-width:9em;font-weight:600}
.bar button{font:inherit;padding:2px 12px}
.heads{display:flex;flex-wrap:wrap;gap:12px;margin-bottom:16px}
.heads figure{margin:0}.heads figcaption{font-size:14px;color:var(--quiet)}
.heads canvas{display:block;max-width:100%;cursor:crosshair}
.scale{display:inline-block;width:120px;height:12px;vertical-align:middle;border:1px solid var(--rule)}
.said{min-height:1.5em;font-family:ui-monospace,monospace;font-size:14px}
)css";

inline constexpr const char* report_script = R"js(
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('heads-data').textContent);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const by = id => document.getElementById(id), tokens = data.tokens, T = tokens.length;
  // A head's text as its number of keys and its rows of letters; labels where there is a token for each.
  const read = text => {
    const [keys, all] = text.split(':'), rows = all.split(' ');
    const causal = rows.length === +keys && rows.every((row, q) => row.length <= q + 1);
    return {keys: +keys, rows, sees: q => causal ? q + 1 : +keys};
  };
  const name = (position, count) => count === T ? tokens[position] + ' (position ' + position + ')' : 'position ' + position;
  const most = Math.max(1, ...data.heads[0].layers.flat().map(read).map(head => Math.max(head.keys, head.rows.length)));
  const cell = Math.max(2, Math.min(14, Math.floor(252 / most))), font = Math.min(12, cell + 1);
  const labels = cell >= 8 && T > 0, edge = labels ? 6 + Math.ceil(font * 0.62 * Math.max(...tokens.map(t => [...t].length))) : 0;
  const above = labels ? Math.max(0, Math.ceil((font - cell) / 2) + 2) : 0;  // half a label may rise above its row
  const colour = weight => data.colours[letters.indexOf(weight)];
  const slider = by('heads-step'), said = by('heads-said'), play = by('heads-play');
  let ink = '#000', timer = 0, tellAgain = () => {};
  const draw = canvas => {
    const head = read(data.heads[+slider.value].layers[+canvas.dataset.layer][+canvas.dataset.head]);
    const below = labels && head.keys === T ? edge : 0;
    const width = edge + head.keys * cell, height = above + head.rows.length * cell + below;
    const sharp = Math.max(1, Math.round(window.devicePixelRatio || 1));
    canvas.width = width * sharp;
    canvas.height = height * sharp;
    canvas.style.width = width + 'px';
    const c = canvas.getContext('2d');
    c.scale(sharp, sharp);
    for (let q = 0; q < head.rows.length; ++q)
      for (let k = 0; k < head.sees(q); ++k) {
        c.fillStyle = colour(head.rows[q][k] ?? letters[0]);
        c.fillRect(edge + k * cell, above + q * cell, cell, cell);
      }
    if (!labels) return;
    c.fillStyle = ink;
    c.font = font + 'px ui-monospace, monospace';
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    for (let t = 0; t < T; ++t) {
      if (head.rows.length === T) c.fillText(tokens[t], edge - 4, above + (t + 0.5) * cell);
      if (head.keys !== T) continue;
      c.save();
      c.translate(edge + (t + 0.5) * cell, above + head.rows.length * cell + 3);
      c.rotate(-Math.PI / 2);
      c.fillText(tokens[t], 0, 0);
      c.restore();
    }
  };
  const canvases = [];
  const redraw = () => {
    ink = getComputedStyle(document.body).color;
    by('heads-now').textContent = 'after ' + data.heads[+slider.value].step + ' steps';
    canvases.forEach(draw);
    tellAgain();
  };
  data.heads[0].layers.forEach((heads, layer) => {
    const row = document.createElement('div');
    row.className = 'heads';
    heads.forEach((_, number) => {
      const figure = document.createElement('figure'), caption = document.createElement('figcaption');
      const canvas = document.createElement('canvas');
      caption.textContent = 'layer ' + layer + ', head ' + number;
      canvas.dataset.layer = layer;
      canvas.dataset.head = number;
      canvas.setAttribute('aria-label', caption.textContent);
      const tell = event => {
        const head = read(data.heads[+slider.value].layers[layer][number]);
        const box = canvas.getBoundingClientRect(), unit = (edge + head.keys * cell) / box.width;
        const k = Math.floor(((event.clientX - box.left) * unit - edge) / cell);
        const q = Math.floor(((event.clientY - box.top) * unit - above) / cell);
        tellAgain = () => tell(event);
        if (k < 0 || q < 0 || q >= head.rows.length || k >= head.sees(q)) return said.textContent = '\u00a0';
        const weight = head.rows[q][k] ?? letters[0];
        said.textContent = caption.textContent + ': ' + name(q, head.rows.length) + ' gives ' + name(k, head.keys) + ' ' +
          (letters.indexOf(weight) / 63).toFixed(2);
      };
      canvas.addEventListener('pointermove', tell);
      canvas.addEventListener('pointerdown', tell);
      figure.append(canvas, caption);
      row.append(figure);
      canvases.push(canvas);
    });
    by('heads').append(row);
  });
  slider.max = data.heads.length - 1;
  slider.value = slider.max;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
  };
  slider.addEventListener('input', () => {
    stop();
    redraw();
  });
  play.addEventListener('click', () => {
    if (timer) return stop();
    if (+slider.value >= +slider.max) slider.value = 0;
    redraw();
    play.textContent = 'Pause';
    timer = setInterval(() => {
      if (+slider.value >= +slider.max) return stop();
      slider.value = +slider.value + 1;
      redraw();
    }, 500);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  redraw();
})();
)js";

}  // namespace mote::detail
