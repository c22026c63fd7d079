# What the scripts beside it share: torch, or exit code 77 without it; programs to be run; files of safetensors.
import json
import os
import shutil
import struct
import subprocess
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    system = "/usr/bin/python3"  # which may have Debian's python3-torch where the first in PATH has none
    if sys.executable != system and os.path.exists(system):
        os.execv(system, [system] + sys.argv)
    print("skipped: python3 has no torch")
    sys.exit(77)


def enter_new(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)


def run(*command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def round_trip(program, folder, tests, write_all, check_all):
    """What torch wrote is read by these tests of mote, and what they wrote by torch."""
    theirs, ours = os.path.join(folder, "torch"), os.path.join(folder, "mote")
    write_all(theirs)
    os.makedirs(ours, exist_ok=True)
    environment = dict(os.environ, MOTE_TORCH_FILES=theirs, MOTE_TORCH_OUTPUT=ours)
    subprocess.run([program, "--test-case=" + tests], env=environment, check=True)
    check_all(ours)


# --- safetensors: u64 length of the header, JSON, elements --------------------------------------------------------------

DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}


def save_file(tensors, path):
    header, parts, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, x in tensors.items():
        x = x.detach().contiguous()
        data = bytes(x.numpy().tobytes())
        dtype = next(word for word, type in DTYPES.items() if type == x.dtype)
        header[name] = {"dtype": dtype, "shape": list(x.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def load_file(path):
    with open(path, "rb") as f:
        data = f.read()
    (n,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, t in json.loads(data[8 : 8 + n]).items():
        if name == "__metadata__":
            assert t["format"] == "pt", path
            continue
        begin, end = t["data_offsets"]
        flat = torch.frombuffer(bytearray(data[8 + n + begin : 8 + n + end]), dtype=DTYPES[t["dtype"]])
        tensors[name] = flat.reshape(t["shape"])
    return tensors
