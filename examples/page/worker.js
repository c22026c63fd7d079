// The page's worker: it holds the module, hands requests to it one after the other, and gives and takes files. Before
// these lines stand createModule(), which Emscripten has made, and fused.js.
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
    return {...await load(withCalls(bytes)), fused: false};  // it lacks the instruction, or rounds twice
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
