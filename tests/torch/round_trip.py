# Weights between PyTorch and mote, in both directions: plain torch writes models and what they compute, mote's test program
# loads them, compares, and writes models of its own, of which torch then computes the same. Only torch and the standard
# library are needed; without torch the exit code is 77.
#
#   round_trip.py PROGRAM FOLDER   the round trip: PROGRAM is models_test, FOLDER is for the files
#   round_trip.py --vectors FOLDER the first half: writes the files that tests/vectors/torch holds
import json
import math
import os
import sys

sys.dont_write_bytecode = True
from llama import Llama
from shared import F, load_file, nn, round_trip, save_file, torch

# --- the models ---------------------------------------------------------------------------------------------------------


class Conv1D(nn.Module):
    """A Linear whose weight is [in, out], as in OpenAI's GPT-2 and in transformers."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class LayerNorm(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, c, linear):
        super().__init__()
        self.n_head = c["n_head"]
        self.c_attn = linear(c["n_embd"], 3 * c["n_embd"])
        self.c_proj = linear(c["n_embd"], c["n_embd"])
        if c["masks"]:
            self.register_buffer("bias", torch.tril(torch.ones(1, 1, c["n_positions"], c["n_positions"])))
        if c["masks"] and c["conv1d"]:
            self.register_buffer("masked_bias", torch.tensor(-1e4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(torch.ones(T, T).tril() == 0, float("-inf"))
        return self.c_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


ACTIVATIONS = {
    "gelu": F.gelu,
    "relu": F.relu,
    "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


class MLP(nn.Module):
    def __init__(self, c, linear):
        super().__init__()
        inner = c["n_inner"] or 4 * c["n_embd"]
        self.c_fc, self.c_proj = linear(c["n_embd"], inner), linear(inner, c["n_embd"])
        self.act = ACTIVATIONS[c["activation_function"]]

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, c, linear):
        super().__init__()
        self.ln_1, self.attn = LayerNorm(c["n_embd"], c["bias"]), Attention(c, linear)
        self.ln_2, self.mlp = LayerNorm(c["n_embd"], c["bias"]), MLP(c, linear)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """nanoGPT's modules; with conv1d those of transformers' GPT2LMHeadModel, which have the same names."""

    def __init__(self, **config):
        super().__init__()
        c = dict(SIZES, **config)
        linear = Conv1D if c["conv1d"] else lambda n_in, n_out: nn.Linear(n_in, n_out, bias=c["bias"])
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(c["vocab_size"], c["n_embd"]),
                wpe=nn.Embedding(c["n_positions"], c["n_embd"]),
                h=nn.ModuleList([Block(c, linear) for _ in range(c["n_layer"])]),
                ln_f=LayerNorm(c["n_embd"], c["bias"]),
            )
        )
        self.lm_head = nn.Linear(c["n_embd"], c["vocab_size"], bias=False)
        if c["tied"]:
            self.lm_head.weight = self.transformer.wte.weight

    def forward(self, ids):
        t = self.transformer
        x = t.wte(ids) + t.wpe(torch.arange(ids.shape[1]))
        for block in t.h:
            x = block(x)
        return self.lm_head(t.ln_f(x))


SIZES = dict(vocab_size=11, n_positions=8, n_layer=2, n_head=2, n_embd=8, n_inner=None, activation_function="gelu",
             bias=True, tied=True, conv1d=False, masks=False)


class BookAttention(nn.Module):
    """Multi-head attention as in Raschka's book, chapter 3: d_in columns in, d_out out."""

    def __init__(self, d_in, d_out, length, heads):
        super().__init__()
        self.heads = heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", torch.triu(torch.ones(length, length), diagonal=1))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.W_query, self.W_key, self.W_value))
        scores = (q @ k.transpose(2, 3)).masked_fill(self.mask.bool()[:T, :T], -torch.inf)
        y = torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1) @ v
        return self.out_proj(y.transpose(1, 2).reshape(B, T, -1))


class MHA(nn.MultiheadAttention):
    def forward(self, query, key, value):
        return super().forward(query, key, value)[0]


def encoder(norm_first, activation):
    return nn.TransformerEncoderLayer(8, 2, 12, 0.0, activation, batch_first=True, norm_first=norm_first)


LLAMA = dict(vocab_size=11, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=1, max_position_embeddings=8, rms_norm_eps=1e-6, rope_theta=100.0, attention_bias=False,
             tie_word_embeddings=False)
LLAMA_TIED = dict(LLAMA, attention_bias=True, tie_word_embeddings=True, num_key_value_heads=2)

HF = dict(conv1d=True, activation_function="gelu_new")
CASES = {
    "nanogpt": lambda: GPT(),
    "nanogpt_no_bias": lambda: GPT(bias=False, masks=True),
    "hf": lambda: GPT(**HF, masks=True, n_inner=20),
    "hf_bare": lambda: GPT(**HF),
    "hf_untied": lambda: GPT(**dict(HF, activation_function="relu"), tied=False),
    "mha": lambda: MHA(8, 2, batch_first=True),
    "mha_kdim": lambda: MHA(8, 2, batch_first=True, kdim=6, vdim=5),
    "encoder_pre": lambda: encoder(True, "gelu"),
    "encoder_post": lambda: encoder(False, "relu"),
    "book": lambda: BookAttention(3, 4, 6, 2),
    "hf_llama": lambda: Llama(LLAMA),
    "hf_llama_tied": lambda: Llama(LLAMA_TIED),
}
SHAPES = {"mha": [(2, 3, 8), (2, 5, 8), (2, 5, 8)], "mha_kdim": [(2, 3, 8), (2, 5, 6), (2, 5, 5)], "book": [(2, 5, 3)],
          "encoder_pre": [(2, 5, 8)], "encoder_post": [(2, 5, 8)]}


def inputs_of(case, random):
    if case not in SHAPES:
        return {"ids": torch.randint(0, SIZES["vocab_size"], (2, 7), generator=random)}
    return {"x%d" % i: torch.randn(shape, generator=random) for i, shape in enumerate(SHAPES[case])}


def config_json(case):
    if "llama" in case:
        return dict(LLAMA_TIED if case == "hf_llama_tied" else LLAMA, model_type="llama")
    c = dict(model_type="gpt2", vocab_size=11, n_positions=8, n_ctx=8, n_layer=2, n_head=2, n_embd=8)
    if case == "hf":
        c["n_inner"] = 20
    if case == "hf_untied":
        c.update(activation_function="relu", tie_word_embeddings=False)
    return c


# --- the round trip -----------------------------------------------------------------------------------------------------


def write_all(folder):
    os.makedirs(folder, exist_ok=True)
    for number, (case, make) in enumerate(CASES.items()):
        random = torch.Generator().manual_seed(number)
        model = make().eval()
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=random) * 0.5)
            inputs = inputs_of(case, random)
            y = model(*inputs.values())
        state = dict(model.state_dict())
        path = os.path.join(folder, case + ".safetensors")
        if case.startswith("hf"):
            os.makedirs(os.path.join(folder, case), exist_ok=True)
            path = os.path.join(folder, case, "model.safetensors")
            with open(os.path.join(folder, case, "config.json"), "w") as f:
                json.dump(config_json(case), f, indent=2)
                f.write("\n")
        if case == "hf_llama_tied":
            del state["lm_head.weight"]
        if case == "hf_bare":
            del state["lm_head.weight"]
            state = {name.replace("transformer.", "", 1): x for name, x in state.items()}
        save_file(state, path)
        save_file(dict(inputs, y=y), os.path.join(folder, case + ".io.safetensors"))


def check_all(folder):
    for case, make in CASES.items():
        hf = case.startswith("hf")
        state = load_file(os.path.join(folder, case + ("/model" if hf else "") + ".safetensors"))
        model = make().eval()
        if hf:
            with open(os.path.join(folder, case, "config.json")) as f:
                written = json.load(f)
            for name, value in config_json(case).items():
                assert written[name] == value, (case, name, written[name])
            for name in model.state_dict():  # what transformers does not expect in a file
                if name.endswith((".attn.bias", ".attn.masked_bias")):
                    assert name not in state
                    state[name] = model.state_dict()[name]
            if case not in ("hf_untied", "hf_llama"):
                assert "lm_head.weight" not in state
                state["lm_head.weight"] = state[next(iter(model.state_dict()))]  # the tokens' vectors
        if case == "nanogpt_no_bias":
            state.update({name: x for name, x in model.state_dict().items() if name.endswith(".attn.bias")})
        io = load_file(os.path.join(folder, case + ".io.safetensors"))
        model.load_state_dict(state)  # strict
        model.to(io["y"].dtype)
        with torch.no_grad():
            y = model(*[x for name, x in sorted(io.items()) if name != "y"])
        error = ((y - io["y"]).abs() / io["y"].abs().clamp(min=1)).max().item()
        print("%-16s torch computes from mote's file what mote does: largest error %.1e" % (case, error))
        assert y.abs().max() > 0.1 and error < 1e-5, case


if sys.argv[1] == "--vectors":
    write_all(sys.argv[2])
else:
    round_trip(*sys.argv[1:], "torch:*", write_all, check_all)
