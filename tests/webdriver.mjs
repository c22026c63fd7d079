// A real browser, driven: chromedriver and chromium lie in the path.
import { spawn } from 'node:child_process';

export const check = (condition, sentence) => {
  if (!condition) throw new Error(sentence);
};

/// From now on pages of mote take this browser for one without the fused multiply-add: their worker, which begins from a
/// blob, finds that the module is not valid.
export const withoutFused = cdp => cdp('Page.addScriptToEvaluateOnNewDocument', { source: `
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      super(options?.type === 'text/javascript' ? ['WebAssembly.validate = () => false;', ...parts] : parts, options);
    }
  };` });

/// Calls drive(tools) with a browser of its own. Afterwards nothing may have been fetched but the pages that were opened,
/// and the console must be silent.
export const withBrowser = async (size, drive) => {
  // WebDriver: each command is a request, each answer {"value": ...}.
  const driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((found, failed) => {
    driver.on('error', failed);
    driver.stdout.on('data', text => {
      const match = /successfully on port (\d+)/.exec(text);
      if (match) found(match[1]);
    });
  });
  const send = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/session${path}`,
      { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    const { value } = await answer.json();
    check(answer.ok, `${path}: ${value?.message}`);
    return value;
  };

  let session;
  try {
    const { sessionId } = await send('POST', '', { capabilities: { alwaysMatch: {
      'goog:chromeOptions': { args: ['--headless=new', '--no-sandbox', '--disable-gpu', `--window-size=${size}`] },
      'goog:loggingPrefs': { browser: 'ALL', performance: 'ALL' } } } });
    session = `/${sessionId}`;
    const opened = [];
    const element = async css => Object.values(await send('POST', `${session}/element`,
      { using: 'css selector', value: css }))[0];
    const until = async (ready, sentence, seconds = 10) => {
      for (const begun = Date.now(); !await ready();) {
        check(Date.now() - begun < 1000 * seconds, sentence);
        await new Promise(later => setTimeout(later, 100));
      }
    };
    await drive({
      element, until,
      open: async url => {
        opened.push(url);
        await send('POST', `${session}/url`, { url });
      },
      js: (script, ...args) => send('POST', `${session}/execute/sync`, { script, args }),
      cdp: (cmd, params) => send('POST', `${session}/goog/cdp/execute`, { cmd, params }),
      pointer: (...actions) => send('POST', `${session}/actions`,
        { actions: [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }] }),
      click: async css => send('POST', `${session}/element/${await element(css)}/click`, {}),
      away: async seconds => {  // in another tab
        const here = await send('GET', `${session}/window`);
        const { handle } = await send('POST', `${session}/window/new`, { type: 'tab' });
        await send('POST', `${session}/window`, { handle });
        await new Promise(later => setTimeout(later, 1000 * seconds));
        await send('DELETE', `${session}/window`);
        await send('POST', `${session}/window`, { handle: here });
      },
      keys: async (css, text) => send('POST', `${session}/element/${await element(css)}/value`, { text }),
      screenshot: async () => Buffer.from(await send('GET', `${session}/screenshot`), 'base64'),
    });
    const events = (await send('POST', `${session}/se/log`, { type: 'performance' }));
    const asked = events.map(e => JSON.parse(e.message).message)
      .filter(m => m.method === 'Network.requestWillBeSent').map(m => m.params.request.url)
      .filter(url => !/^(data|blob):/.test(url) && !opened.some(page => decodeURI(url) === decodeURI(page.split('#')[0])));
    check(asked.length === 0, `the page asked for ${asked}`);
    const complaints = await send('POST', `${session}/se/log`, { type: 'browser' });
    check(complaints.length === 0, `the console says ${complaints.map(c => c.message)}`);
  } finally {
    if (session) await send('DELETE', session);  // and with it the browser
    driver.kill();
  }
};
