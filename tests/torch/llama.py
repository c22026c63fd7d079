# A Llama that mote trained is read by plain torch: exported as Hugging Face keeps it, its loss over all that is held out is
# the one that train printed, with averaged weights and without. Without torch the exit code is 77.
#
#   llama.py TRAIN EXPORT TEXT FOLDER
import json
import math
import re
import sys

sys.dont_write_bytecode = True
from shared import F, enter_new, load_file, nn, run, torch


class RMSNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * self.weight


class Layer(nn.Module):
    """Parameters in the order of transformers' LlamaDecoderLayer, which numbers the optimizer's state."""

    def __init__(self, c):
        super().__init__()
        C, inner, bias, self.theta = c["hidden_size"], c["intermediate_size"], c["attention_bias"], c["rope_theta"]
        self.heads, self.kv_heads = c["num_attention_heads"], c["num_key_value_heads"]
        kv = C // self.heads * self.kv_heads
        self.self_attn = nn.ModuleDict({"q_proj": nn.Linear(C, C, bias), "k_proj": nn.Linear(C, kv, bias),
                                        "v_proj": nn.Linear(C, kv, bias), "o_proj": nn.Linear(C, C, bias)})
        self.mlp = nn.ModuleDict({"gate_proj": nn.Linear(C, inner, False), "up_proj": nn.Linear(C, inner, False),
                                  "down_proj": nn.Linear(inner, C, False)})
        self.input_layernorm = RMSNorm(C, c["rms_norm_eps"])
        self.post_attention_layernorm = RMSNorm(C, c["rms_norm_eps"])

    def turned(self, x):  # [B, H, T, d]: the two halves of a head are the two coordinates of its points
        half = x.shape[-1] // 2
        speeds = self.theta ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * speeds
        (a, b), cos, sin = x.split(half, -1), angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(self, x):
        (B, T, C), a = x.shape, self.self_attn
        split = lambda y, heads: y.view(B, T, heads, -1).transpose(1, 2)
        q = self.turned(split(a.q_proj(x), self.heads))
        k, v = self.turned(split(a.k_proj(x), self.kv_heads)), split(a.v_proj(x), self.kv_heads)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, 1) for y in (k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.heads)
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        return a.o_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.attention(self.input_layernorm(x))
        y = self.post_attention_layernorm(x)
        return x + self.mlp.down_proj(F.silu(self.mlp.gate_proj(y)) * self.mlp.up_proj(y))


class Llama(nn.Module):
    def __init__(self, c):
        super().__init__()
        embed, norm = nn.Embedding(c["vocab_size"], c["hidden_size"]), RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        layers = nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"]))
        self.model = nn.ModuleDict({"embed_tokens": embed, "layers": layers, "norm": norm})
        self.lm_head = nn.Linear(c["hidden_size"], c["vocab_size"], bias=False)
        if c["tie_word_embeddings"]:
            self.lm_head.weight = embed.weight

    def forward(self, ids):
        x = self.model.embed_tokens(ids)
        for layer in self.model.layers:
            x = layer(x)
        return self.lm_head(self.model.norm(x))


def load_folder(folder):
    config = json.load(open(folder + "/config.json"))
    assert config["architectures"] == ["LlamaForCausalLM"]
    model, tensors = Llama(config), load_file(folder + "/model.safetensors")
    if config["tie_word_embeddings"]:
        assert "lm_head.weight" not in tensors
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    model.load_state_dict(tensors)  # strict
    return model


def main(train, export, text, folder):
    enter_new(folder)
    everything = open(text, encoding="utf-8", newline="").read()
    letters = {letter: i for i, letter in enumerate(sorted(set(everything)))}
    ids = torch.tensor([letters[letter] for letter in everything[int(len(everything) * 0.9) :]])
    for kind in (["--n_kv_head", "2"], ["--n_kv_head", "1", "--tie_weights", "true"], ["--ema_decay", "0"]):
        name = "run" + "".join(kind)
        said = run(train, "--text", text, "--preset", "llama", *kind, "--n_layer", "2", "--n_head", "4", "--n_embd", "32",
                   "--block_size", "32", "--batch_size", "8", "--max_iters", "60", "--out_dir", name)
        loss = float(re.search(r"held-out loss on all that is held out: ([0-9.]+)", said)[1])
        which = run(export, name, "--to", "huggingface", f"{name}_hf")
        assert ("averages" in which) == (kind[0] != "--ema_decay"), which
        model, total = load_folder(f"{name}_hf"), 0.0
        for start in range(0, len(ids) - 1, 32):
            row = ids[start : start + 33]
            total += F.cross_entropy(model(row[None, :-1])[0], row[1:], reduction="sum").item()
        mean = total / (len(ids) - 1)
        print(f"{name}: {loss} in mote, {mean:.5f} in torch")
        assert abs(mean - loss) < 1e-4


if __name__ == "__main__":
    with torch.no_grad():
        main(*sys.argv[1:])
