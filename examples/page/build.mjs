// Makes the page, one HTML file: node build.mjs SOURCES MODULE.js MODULE.wasm PAGE.html. It gives the fused
// instruction today's number, compresses the module, and puts all parts into page.html. The same parts make the same
// bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [sources, glue, module, page] = process.argv.slice(2);
const text = name => readFileSync(`${sources}/${name}`, 'utf8');
const { withTodaysNumber } = new Function(`${text('fused.js')}\nreturn {withTodaysNumber}`)();
const bytes = withTodaysNumber(new Uint8Array(readFileSync(module)));
const packed = gzipSync(bytes, { level: 9 });
packed[9] = 255;  // gzip's byte for the operating system: 255 is unknown

// Inside a script, "</script" would end the script, and "<!--" would hide the end of the script.
const inside = script => script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const parts = {
  STYLE: text('page.css'),
  WORKER: inside([readFileSync(glue, 'utf8'), text('fused.js'), text('worker.js')].join('\n')),
  STATIONS: inside(text('stations.js')),
  PAGE: inside(text('page.js')),
  MODULE: packed.toString('base64'),
};
let html = text('page.html');
for (const [name, part] of Object.entries(parts)) {
  const mark = `@${name}@`;
  if (html.split(mark).length !== 2) throw new Error(`page.html must have ${mark} once`);
  html = html.split(mark).join(part);
}
writeFileSync(page, html);
console.log(`${page}: ${html.length} bytes; the module ${bytes.length}, compressed ${packed.length}`);
