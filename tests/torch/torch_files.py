# The files of torch.save that tests/engine/io/torch_file_test.cpp reads, and what torch.load makes of those that it wrote.
# Only torch is needed; without it the exit code is 77.
#
#   torch_files.py FOLDER          writes the files that tests/vectors/torch_files holds
#   torch_files.py PROGRAM FOLDER  the round trip: PROGRAM is engine_io_test, FOLDER is for the files
import argparse
import collections
import datetime
import os
import sys

sys.dont_write_bytecode = True
from shared import nn, round_trip, torch


def tied():
    model = nn.ModuleDict({"wte": nn.Embedding(3, 2), "head": nn.Linear(2, 3, bias=False), "norm": nn.BatchNorm1d(2)})
    with torch.no_grad():
        model["wte"].weight.copy_(torch.arange(6.0).reshape(3, 2) / 4)
    model["head"].weight = model["wte"].weight
    return model


def optimizer():
    w = nn.Parameter(torch.tensor([1.0, 2.0]))
    adam = torch.optim.AdamW([w], lr=0.5, betas=(0.5, 0.75))
    w.grad = torch.tensor([1.0, -1.0])
    adam.step()
    return adam.state_dict()


def plain():
    shared = [1, 2]
    return {
        "none": None,
        "bools": [True, False],
        "ints": [0, 255, 256, 65535, 65536, -1, 2**31, -(2**63), 2**63 - 1],
        "floats": [0.0, -0.5, 1e300, float("inf")],
        "text": "h\u00e9 \U0001f600",
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        7: "seven",
        -1: {},
        "size": torch.Size([2, 3]),
        "one": [[]],
        "twice": [shared, shared],
    }


def tensors():
    x = torch.arange(24.0).reshape(2, 3, 4)
    floats, ints = [torch.float64, torch.float16, torch.bfloat16], [torch.int64, torch.int32, torch.int16, torch.int8]
    return {
        "x": x,
        "transposed": x.transpose(0, 2),
        "slice": x[1, ::2, 1:3],
        "row": x[1, 2],
        "expanded": x[:, :1, :1].expand(2, 3, 4),
        "scalar": torch.tensor(1.5),
        "empty": torch.zeros(0, 3),
        "bool": torch.tensor([True, False]),
        "parameter": nn.Parameter(torch.tensor([2.5])),
        "types": [torch.tensor([1, 2, 127]).to(t) for t in floats + ints + [torch.uint8]],
    }


def objects():
    """What mote leaves opaque, beside a tensor that it reads; empty slices, one of which begins behind its storage."""
    w = torch.arange(4.0).reshape(2, 2)
    recursive = argparse.Namespace(lr=0.5)
    recursive.itself = recursive
    with_attribute = nn.Parameter(torch.tensor([1.5]))
    with_attribute.note = "mine"
    return {
        "w": w,
        "best": torch.ones(1).numpy().astype("float64")[0] * 3.5,
        "array": torch.arange(3).numpy(),
        "device": torch.device("cpu"),
        "dtype": torch.float32,
        "class": torch.FloatStorage,
        "storage": w.storage(),
        "options": recursive,
        "bytes": b"\xff\x00",
        "set": {1, 2},
        "counter": collections.Counter("aab"),
        "default": collections.defaultdict(list, {"a": [1]}),
        "date": datetime.date(2023, 1, 2),
        "module": nn.Linear(2, 2),
        "seed": 2**64 - 1,
        "huge": 2**2040,
        "surrogate": "\udc80",
        "range": range(3),
        "complex": torch.zeros(2, dtype=torch.complex64),
        "complex_parameter": nn.Parameter(torch.zeros(2, dtype=torch.complex64)),
        "sparse": torch.eye(2).to_sparse(),
        "quantized": torch.quantize_per_tensor(w, 0.5, 0, torch.qint8),
        "axes": torch.zeros([1] * 9),
        "third": torch.tensor(1 / 3, dtype=torch.float64),
        "keys": {(1, 2): 1, 0.5: 2, None: 3, True: 4, "s": 5, 7: 6},
        "empty": torch.zeros(3, 0)[1:],
        "end": torch.zeros(3, 4)[3:],
        "attribute": with_attribute,
        "after": [w, w[1]],
    }


FILES = {
    "tied": lambda: tied().state_dict(),
    "optimizer": optimizer,
    "plain": plain,
    "tensors": tensors,
    "objects": objects,
}


def write_all(folder):
    os.makedirs(folder, exist_ok=True)
    for name, make in FILES.items():
        torch.save(make(), os.path.join(folder, name + ".pt"))


def same(a, b):
    """Whether mote's b is torch's a: floats and integers may have become wider, an OrderedDict a dict."""
    if isinstance(a, torch.Tensor):
        wide = a.is_floating_point() == b.is_floating_point() and (a.dtype != torch.uint8 or b.dtype == torch.uint8)
        return wide and a.shape == b.shape and b.is_contiguous() and torch.equal(a.double(), b.double())
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and isinstance(b, tuple) == isinstance(a, tuple) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def floats_in(a):
    children = a.values() if isinstance(a, dict) else a if isinstance(a, (list, tuple)) else []
    return isinstance(a, float) or any(map(floats_in, children))


def check_all(folder):
    for name, make in FILES.items():
        if name == "objects":  # which mote cannot write
            continue
        path = os.path.join(folder, name + ".pt")
        loaded = torch.load(path)
        assert same(make(), loaded), (name, loaded)
        if not floats_in(loaded):  # of which torch 1 knows nothing here
            assert same(make(), torch.load(path, weights_only=True)), name
        print(name + ": torch loads from mote's file what it saved")
    loaded = torch.load(os.path.join(folder, "tied.pt"))
    assert loaded["wte.weight"].data_ptr() == loaded["head.weight"].data_ptr()
    tied().load_state_dict(loaded)
    generator = torch.load(os.path.join(folder, "generator.pt"))
    torch.Generator().set_state(generator)
    assert torch.equal(generator, torch.Generator().manual_seed(5).get_state())


def write_more(folder):
    write_all(folder)
    torch.save(torch.Generator().manual_seed(5).get_state(), os.path.join(folder, "generator.pt"))


if len(sys.argv) == 2:
    write_all(sys.argv[1])
else:
    round_trip(*sys.argv[1:], "torch files: *", write_more, check_all)
