// The page's worker. It holds the module, hands requests to the module one after the other, and reads and writes
// files. build.mjs puts createModule(), which Emscripten has made, and fused.js before this file.
'use strict';
let module = null;

const load = async bytes => {
  module = await createModule({wasmBinary: bytes});
  return answer({do: 'hello'});
};

const answer = request => {
  const room = module.allocateUTF8(JSON.stringify(request));
  const told = module.UTF8ToString(module._mote_answer(room));
  module._free(room);
  return JSON.parse(told);
};

const handle = async message => {
  if (message.module) {
    const bytes = new Uint8Array(message.module);
    if (WebAssembly.validate(bytes)) {
      const told = await load(bytes);
      if (!told.error) return {...told, fused: true};
    }
    return {...await load(withCalls(bytes)), fused: false};  // the browser lacks the fused instruction, or rounds twice
  }
  if (message.put) {
    module.FS.writeFile(message.put, new Uint8Array(message.bytes));
    return {};
  }
  if (message.get) return {bytes: module.FS.readFile(message.get).buffer};
  if (message.memory) return {bytes: module.HEAPU8.length};
  return answer(message);
};

const receive = async (id, message, post) => {
  try {
    post({id, answer: await handle(message)});
  } catch (e) {
    post({id, answer: {error: 'the module has stopped: ' + (e.message || e) + '. Reload the page.'}});
  }
};
let last = Promise.resolve();
if (typeof onmessage !== 'undefined' || typeof self !== 'undefined')
  self.onmessage = event => {
    last = last.then(() => receive(event.data.id, event.data.message, told => self.postMessage(told)));
  };
