# The road to PyTorch and back, walked: train in mote, export, go on in torch, alone and as two processes, and in mote again;
# each time beside the run that never left. Without torch the exit code is 77.
#
#   road.py TRAIN EXPORT SCRIPT TEXT FOLDER
import json
import os
import pickle
import subprocess
import sys

sys.dont_write_bytecode = True
from shared import enter_new, run, torch

train, export, script, text, folder = sys.argv[1:]
enter_new(folder)


def refused(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    return done.stderr


def logged(name):
    return {line["step"]: line["loss"] for line in map(json.loads, open(f"{name}/log.jsonl"))}


def largest_difference(loss, other):
    return max(abs(loss[step] - other[step]) for step in other)


for kind in ([], ["--lines"], ["--lines", "--ema_decay", "0", "--gradient_accumulation_steps", "2", "--bias", "true"]):
    options = ["--text", text, *kind, "--n_layer", "2", "--n_embd", "32", "--eval_interval", "0", "--lr_decay_iters", "60"]
    name = "run" + "".join(kind)
    run(train, *options, "--max_iters", "30", "--out_dir", f"{name}/there")
    run(train, *options, "--max_iters", "60", "--out_dir", f"{name}/straight")
    straight = logged(f"{name}/straight")
    run(export, f"{name}/there", "--to", "nanogpt", f"{name}/out")
    assert "choose another folder" in refused(export, f"{name}/there", "--to", "nanogpt", f"{name}/out")
    meta = pickle.load(open(f"{name}/out/meta.pkl", "rb"))  # by which nanoGPT's sample.py reads and writes
    ids = torch.from_file(f"{name}/out/train.bin", size=200, dtype=torch.int16).tolist()
    documents = "".join(meta["itos"][i] for i in ids).split("<|endoftext|>")
    assert all(document in open(text).read() for document in documents) and max(map(len, documents)) > 50
    assert all(meta["stoi"][meta["itos"][i]] == i for i in range(meta["vocab_size"]))
    for processes in (1, 2):
        several = {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 20000)}
        python = [sys.executable, script, f"{name}/out", "15", f"{name}/back{processes}"]
        others = [subprocess.Popen(python, env={**os.environ, **several, "RANK": str(i)}) for i in range(1, processes)]
        said = run(*python, **several, RANK="0")
        assert all(other.wait() == 0 for other in others)
        losses = {int(line.split()[1]): float(line.split()[3]) for line in said.splitlines()}
        assert list(losses) == list(range(31, 46))
        run(train, "--from", f"{name}/back{processes}", "--out_dir", f"{name}/more{processes}", "--max_iters", "60")
        more = logged(f"{name}/more{processes}")
        assert list(more) == list(range(46, 61))
        differences = largest_difference(straight, losses), largest_difference(straight, more)
        print(name, processes, "in torch, and back: losses differ by", *differences)
        assert max(differences) < 1e-5
    run(train, *options, "--max_iters", "45", "--out_dir", f"{name}/middle")
    run(export, f"{name}/middle", "--to", "nanogpt", f"{name}/same")
    mine, its = torch.load(f"{name}/same/ckpt.pt"), torch.load(f"{name}/back1/ckpt.pt")
    assert torch.equal(mine["mote"]["rng_state"], its["mote"]["rng_state"])
    for i, state in mine["optimizer"]["state"].items():
        for key in ("step", "exp_avg", "exp_avg_sq"):
            assert (state[key] - its["optimizer"]["state"][i][key]).abs().max() < 1e-6, (i, key)
    if not kind:  # as nanoGPT saves it: without what is mote's own
        del its["mote"]
        torch.save(its, f"{name}/ckpt.pt")
        run(train, "--from", f"{name}/ckpt.pt", "--text", text, "--out_dir", f"{name}/more", "--max_iters", "50")
        assert list(logged(f"{name}/more")) == [46, 47, 48, 49, 50]
        # Without a text it takes the tokens of its dataset, and meta.pkl beside them; with decay_lr = False a constant rate.
        its["config"].update(decay_lr=False, min_lr=1.0, label_smoothing=0.1)
        torch.save(its, f"{name}/ckpt.pt")
        said = run(train, "--from", f"{name}/ckpt.pt", "--out_dir", f"{name}/constant", "--max_iters", "50")
        assert "no such setting: label_smoothing = 0.1" in said
        rates = [json.loads(line)["learning_rate"] for line in open(f"{name}/constant/log.jsonl")]
        assert rates == [its["config"]["learning_rate"]] * 5
        assert json.load(open(f"{name}/constant/config.json"))["training"]["ema_decay"] == 0
        assert "--lines true: the run has false" in refused(train, "--from", f"{name}/ckpt.pt", "--lines")
        os.rename(f"{name}/out/meta.pkl", f"{name}/meta.pkl")
        open(f"{name}/other.txt", "w").write("abc" * 1000)  # other characters: by meta.pkl its ids are known all the same
        run(train, "--from", f"{name}/ckpt.pt", "--text", f"{name}/other.txt", "--out_dir", f"{name}/abc", "--max_iters", "46")
        assert json.load(open(f"{name}/abc/config.json"))["task"]["tokenizer"].endswith("/meta.pkl")
        os.rename(f"{name}/meta.pkl", f"{name}/out/meta.pkl")
        its["config"]["dataset"] = "openwebtext"
        torch.save(its, f"{name}/ckpt.pt")
        assert "give it by --text" in refused(train, "--from", f"{name}/ckpt.pt")
run(train, "--text", text, "--optimizer", "sgd", "--n_embd", "8", "--n_head", "2", "--max_iters", "2", "--out_dir", "sgd")
assert "trains with sgd" in refused(export, "sgd", "--to", "nanogpt", "none")
assert "--task copy: the run has text" in refused(train, "--from", "run/back1", "--task", "copy")
assert not os.path.exists("none") and not os.path.exists("none.part")
