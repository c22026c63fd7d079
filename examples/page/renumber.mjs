// The multiply-add of relaxed SIMD had another number when Debian's compiler was made: 0xaf of then is 0x105 of today. Both
// are three bytes long, so they are exchanged in place. As a program: node renumber.mjs MODULE.wasm, in place.
import { readFileSync, writeFileSync } from 'node:fs';

const places = (bytes, pattern) => {
  const found = [];
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + 1)) found.push(at);
  return found;
};

/// Skips a number in LEB128 and returns [its value, where it ends].
const number = (bytes, at) => {
  let value = 0, shift = 0, byte;
  do {
    byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    shift += 7;
  } while (byte & 128);
  return [value, at];
};

/// Where the code section begins and ends.
export const code = bytes => {
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at], [size, begin] = number(bytes, at + 1);
    if (id === 10) return [begin, begin + size];
    at = begin + size;
  }
  throw new Error('the module has no code');
};

/// The index of the function that computes the fused result without the instruction.
export const exact = bytes => {
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at], [size, begin] = number(bytes, at + 1);
    if (id === 7) {
      let [left, next] = number(bytes, begin);
      for (; left > 0; --left) {
        const [length, name] = number(bytes, next), kind = bytes[name + length];
        const [index, end] = number(bytes, name + length + 1);
        if (kind === 0 && bytes.subarray(name, name + length).toString() === 'mote_exact_fma') return index;
        next = end;
      }
    }
    at = begin + size;
  }
  throw new Error('the module does not export mote_exact_fma');
};

/// The module with today's number. Errors: today's stands in its code already. Bytes of the same form could be part of a
/// constant in its code: then the module is no longer valid, or a test finds other bits.
export const renumber = bytes => {
  const then = Buffer.from([0xfd, 0xaf, 0x01]), now = Buffer.from([0xfd, 0x85, 0x02]);
  const changed = Buffer.from(bytes), [begin, end] = code(changed);
  const inCode = at => at >= begin && at < end;
  if (places(changed, now).some(inCode)) throw new Error('the code has bytes that look like the instruction');
  for (const at of places(changed, then).filter(inCode)) now.copy(changed, at);
  return changed;
};

if (process.argv[1]?.endsWith('renumber.mjs')) writeFileSync(process.argv[2], renumber(readFileSync(process.argv[2])));
