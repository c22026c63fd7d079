// Finds the multiply-add of relaxed SIMD in a module's code, and replaces it by calls of a function for older
// browsers. build.mjs and the page's worker both use this file.
'use strict';

/// Reads the bytes of a WebAssembly module, whose numbers are encoded as LEB128.
class Reader {
  constructor(bytes, at = 8) {
    this.bytes = bytes;
    this.at = at;
  }
  byte() { return this.bytes[this.at++]; }
  number() {
    let value = 0, scale = 1, byte;
    do {
      byte = this.byte();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }
  numbers(count) { for (let i = 0; i < count; ++i) this.number(); }
  section(id) {
    for (this.at = 8; this.at < this.bytes.length;) {
      const found = this.byte(), size = this.number();
      if (found === id) return this.at + size;
      this.at += size;
    }
    throw new Error('the module has no section ' + id);
  }
  /// Skips the operands of an opcode that has been read.
  skip(opcode) {
    if (opcode === 0x0e) this.numbers(this.number() + 1);                     // br_table
    else if (opcode === 0x1c) this.at += this.number();                       // select of a type
    else if (opcode === 0x43) this.at += 4;                                   // f32.const
    else if (opcode === 0x44) this.at += 8;                                   // f64.const
    else if (opcode === 0x11 || (opcode >= 0x28 && opcode <= 0x3e)) this.numbers(2);  // call_indirect, memory
    else if (opcode === 0xfc) this.numbers([0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1][this.number()]);
    else if ((opcode >= 0x02 && opcode <= 0x04) || (opcode >= 0x06 && opcode <= 0x09) || opcode === 0x0c ||
      opcode === 0x0d || opcode === 0x10 || opcode === 0x12 || opcode === 0x18 || (opcode >= 0x20 && opcode <= 0x26) ||
      (opcode >= 0x3f && opcode <= 0x42) || opcode === 0xd0 || opcode === 0xd2) this.number();
  }
  skipVector(opcode) {
    if (opcode <= 11 || opcode === 92 || opcode === 93) this.numbers(2);      // memory
    else if (opcode === 12 || opcode === 13) this.at += 16;                   // v128.const, shuffle
    else if (opcode >= 21 && opcode <= 34) this.at += 1;                      // a lane
    else if (opcode >= 84 && opcode <= 91) {                                  // memory and a lane
      this.numbers(2);
      this.at += 1;
    }
  }
}

/// All places of a vector instruction in the code. A place is the index of the instruction's first byte, 0xfd.
const vectorPlaces = (bytes, wanted) => {
  const reader = new Reader(bytes), found = [];
  reader.section(10);
  for (let left = reader.number(); left > 0; --left) {
    const size = reader.number(), end = reader.at + size;
    for (let kinds = reader.number(); kinds > 0; --kinds) {                   // its local variables
      reader.number();
      reader.byte();
    }
    while (reader.at < end) {
      const place = reader.at, opcode = reader.byte();
      if (opcode !== 0xfd) {
        reader.skip(opcode);
        continue;
      }
      const vector = reader.number();
      if (vector === wanted) found.push(place);
      reader.skipVector(vector);
    }
    if (reader.at !== end) throw new Error('the module has an instruction that is not known');
  }
  return found;
};

/// The index of an exported function.
const exported = (bytes, wanted) => {
  const reader = new Reader(bytes);
  reader.section(7);
  for (let left = reader.number(); left > 0; --left) {
    const length = reader.number();
    const name = String.fromCharCode(...bytes.subarray(reader.at, reader.at + length));
    reader.at += length;
    const kind = reader.byte(), index = reader.number();
    if (kind === 0 && name === wanted) return index;
  }
  throw new Error('the module does not export ' + wanted);
};

/// Gives every multiply-add its number of today. The number was 0xaf when Debian's compiler was made, and is 0x105
/// today. The instruction has three bytes with both numbers.
const withTodaysNumber = bytes => {
  const changed = bytes.slice();
  for (const place of vectorPlaces(bytes, 0xaf)) changed.set([0xfd, 0x85, 0x02], place);
  return changed;
};
/// Replaces every multiply-add by a call of mote_exact_fma, which computes the same result. A call has three bytes,
/// too.
const withCalls = bytes => {
  const changed = bytes.slice(), exact = exported(bytes, 'mote_exact_fma');
  if (exact >= 1 << 14) throw new Error('the module has too many functions');
  for (const place of vectorPlaces(bytes, 0x105)) changed.set([0x10, 0x80 | (exact & 127), exact >> 7], place);
  return changed;
};
