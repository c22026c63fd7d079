"""Goes on in torch with a run of mote: export RUN --to nanogpt DIR, then continue_in_torch.py DIR STEPS [OUT].

It draws the batches that mote would have drawn, with its learning rates, clipping and averages; dropout draws others.
Several processes, by torchrun or by hand (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), take each a part of every batch.
OUT/ckpt.pt is what train --from OUT goes on with. The model is that of https://github.com/karpathy/nanoGPT.
"""
import math, os, sys
import torch
from torch import nn
from torch.nn import functional as F


class LayerNorm(nn.LayerNorm):  # torch 1 has none without a bias
    def __init__(self, width, bias):
        super().__init__(width)
        self.bias = self.bias if bias else None


class Block(nn.Module):
    def __init__(self, a):
        super().__init__()
        C, self.heads, self.p = a["n_embd"], a["n_head"], a["dropout"]
        linear = lambda n, m: nn.Linear(n, m, bias=a["bias"])
        self.ln_1 = LayerNorm(C, a["bias"])  # parameters in nanoGPT's order, which numbers the optimizer's state
        self.attn = nn.ModuleDict({"c_attn": linear(C, 3 * C), "c_proj": linear(C, C)})
        self.ln_2 = LayerNorm(C, a["bias"])
        self.mlp = nn.ModuleDict({"c_fc": linear(C, 4 * C), "c_proj": linear(4 * C, C)})

    def forward(self, x):
        (B, T, C), drop = x.shape, lambda y: F.dropout(y, self.p, self.training)
        q, k, v = (y.view(B, T, self.heads, -1).transpose(1, 2) for y in self.attn.c_attn(self.ln_1(x)).split(C, 2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.heads)
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        x = x + drop(self.attn.c_proj((drop(scores.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, C)))
        return x + drop(self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)))))


class GPT(nn.Module):
    def __init__(self, a):
        super().__init__()
        wte, wpe = nn.Embedding(a["vocab_size"], a["n_embd"]), nn.Embedding(a["block_size"], a["n_embd"])
        h = nn.ModuleList(Block(a) for _ in range(a["n_layer"]))
        self.transformer = nn.ModuleDict({"wte": wte, "wpe": wpe, "h": h, "ln_f": LayerNorm(a["n_embd"], a["bias"])})
        self.lm_head = nn.Linear(a["n_embd"], a["vocab_size"], bias=False)
        self.lm_head.weight, self.p = wte.weight, a["dropout"]

    def forward(self, ids):
        t = self.transformer
        x = F.dropout(t.wte(ids) + t.wpe(torch.arange(ids.shape[1])), self.p, self.training)
        return self.lm_head(t.ln_f(nn.Sequential(*t.h)(x)))


def learning_rate(c, it):
    end, warmup, constant = c["lr_decay_iters"], c["warmup_iters"], c["schedule"] == "constant"
    warmup = warmup if constant else min(warmup, end)
    if it < warmup or constant:
        return c["learning_rate"] * min(1, (it + 1) / (warmup + 1))
    p, decay = min(1, (it - warmup) / max(1, end - warmup)), max(1, min(round(0.2 * end), end - warmup))
    height = {"cosine": 0.5 * (1 + math.cos(math.pi * p)), "linear": 1 - p,
              "wsd": 1 - math.sqrt(min(decay, max(0, decay - (end - it))) / decay)}
    return c["min_lr"] + height[c["schedule"]] * (c["learning_rate"] - c["min_lr"])


def draw_batch(ids, starts, rows, length, random):
    """ids and targets; documents, each between two separators, are filled: what is no target is -1."""
    draw, windows = lambda n: int(torch.randint(n, (1,), generator=random)), []
    for _ in range(rows):
        first, last = 0, len(ids)
        if starts:
            i = draw(len(starts) - 1)
            first, last = starts[i], starts[i + 1]
        n = min(length + 1, last - first)
        first += draw(last - first - n + 1) if not starts or n < last - first else 0
        windows.append(ids[first : first + n])
    row = lambda w, fill: torch.cat([w, w.new_full((max(map(len, windows)) - 1 - len(w),), fill)])
    return torch.stack([row(w[:-1], int(w[-1])) for w in windows]), torch.stack([row(w[1:], -1) for w in windows])


def main(folder, steps, out=None):
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        torch.distributed.init_process_group("gloo")
    checkpoint = torch.load(folder + "/ckpt.pt")
    c, own, model = checkpoint["config"], checkpoint["mote"], GPT(checkpoint["model_args"])
    model.load_state_dict(checkpoint["model"])
    groups = [[p for p in model.parameters() if (p.dim() > 1) == matrix] for matrix in (True, False)]
    optimizer = torch.optim.AdamW([{"params": group} for group in groups])
    optimizer.load_state_dict(checkpoint["optimizer"])
    random = torch.Generator().set_state(own["rng_state"])
    size = os.path.getsize(folder + "/train.bin") // 2
    ids, starts = torch.from_file(folder + "/train.bin", size=size, dtype=torch.int16).long() & 0xFFFF, []
    if own["settings"]["task.lines"] == "true":  # a document begins at the first separator, and at each that follows one
        starts = [0] + (((ids[1:] == ids[0]) & (ids[:-1] == ids[0])).nonzero()[:, 0] + 1).tolist() + [size]
    for it in range(checkpoint["iter_num"], checkpoint["iter_num"] + steps):
        batches = [draw_batch(ids, starts, c["batch_size"], int(own["settings"]["task.block_size"]), random)
                   for _ in range(c["gradient_accumulation_steps"])]
        count, loss = sum(int((targets >= 0).sum()) for _, targets in batches), 0
        for x, y in ((x[rank::world], y[rank::world]) for x, y in batches):
            part = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=-1, reduction="sum") / count
            part.backward()
            loss += part.detach()
        for sum_of_all in [loss] + [p.grad for p in model.parameters()] if world > 1 else []:
            torch.distributed.all_reduce(sum_of_all)
        torch.nn.utils.clip_grad_norm_(model.parameters(), c["grad_clip"] or math.inf)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(c, it)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        own["ema_updates"] += 1
        kept = min(c["ema_decay"], own["ema_updates"] / (9 + own["ema_updates"]))
        for name, average in own["ema"].items():
            average.lerp_(model.get_parameter(name).detach(), 1 - kept)
        rank or print(f"step {it + 1} loss {loss.item():.9g}", flush=True)
    checkpoint.update(model=model.state_dict(), optimizer=optimizer.state_dict(), iter_num=it + 1)
    own["rng_state"] = random.get_state()
    if world > 1:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
    if out and rank == 0:
        os.makedirs(out, exist_ok=True), torch.save(checkpoint, out + "/ckpt.pt")


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:4]) if len(sys.argv) > 2 else sys.exit(__doc__)
