#!/bin/sh
# Writes the seed corpora of the fuzzers: sh tests/fuzz/seeds.sh FOLDER makes FOLDER/json and the like.
set -eu
for kind in json npy safetensors llmc config tokenizer encode torch; do mkdir -p "$1/$kind"; done
n=0
json() { n=$((n + 1)); printf '%s' "$1" > "$out/json/$n"; }
out=$1
json '{"__metadata__":{"format":"pt"},"h.0":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
json '[0,-0,1.5,-2e-3,1E+2,18446744073709551615,-9223372036854775808,5e-324,1.7976931348623157e308]'
json '["","a","\"\\\/\b\f\n\r\t","\u0000\u00e9\u20ac","\ud83d\ude00","é€😀"]'
json '{"a":{"b":[[],{},[null,true,false]]},"":0, "c d" : [ 1 , 2 ] }'
json '{"a":1,"b":2,"a":3}'
# Version, length of the header as the version's bytes, dictionary, elements.
npy() { n=$((n + 1)); printf '\223NUMPY'"$1$2"'%s\n'"$4" "$3" > "$out/npy/$n"; }
npy '\001\000' '\074\000' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }" '\000\000\200\077\000\000\200\177'
npy '\002\000' '\071\000\000\000' "{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }" '12345678'
npy '\003\000' '\072\000\000\000' "{'descr': '|u1', 'fortran_order': True, 'shape': (2,3), }" 'abcdef'
npy '\001\000' '\070\000' "{'descr': '<f2', 'fortran_order': False, 'shape': (), }" '\001\074'
npy '\001\000' '\074\000' "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 3), }" ''
npy '\001\000' '\072\000' "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }" '\001\002\003\377'
npy '\001\000' '\072\000' "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }" '\077\200\000\000'
# The length of a header below 256 bytes, the header, elements.
st() { n=$((n + 1)); printf "\\$(printf %o ${#1})"'\000\000\000\000\000\000\000%s'"$2" "$1" > "$out/safetensors/$n"; }
st '{}' ''
st '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  ' '\000\000\200\077\000\000\300\177'
st '{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}' '\200\077\001\200\000\001'
st '{"__metadata__":{"format":"pt"},"\u00e9":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"e":{"dtype":"F16","shape":[0],"data_offsets":[0,0]}}' '12345678'
st '{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"U64","shape":[1],"data_offsets":[8,16]}}' '\000\000\000\000\000\000\340\077\377\377\000\000\000\000\000\000'
st '{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]},"c":{"dtype":"U32","shape":[1],"data_offsets":[4,8]}}' 'abcdefgh'
# Version, then max_seq_len, vocab_size, num_layers, num_heads, channels and padded_vocab_size, each below 256, and how
# many elements of how many bytes follow: (padded + max_seq_len + 2) C + layers C (12 C + 13).
llmc() {
  n=$((n + 1))
  {
    printf '\306\327\064\001'
    for word in "$@"; do printf "\\$(printf %o "$word")"'\000\000\000'; done | head -c 28
    head -c 992 /dev/zero
    shift 7
    head -c $(($1 * $2)) /dev/zero
  } > "$out/llmc/$n"
}
llmc 3 1 1 1 1 1 1 29 4
llmc 5 2 3 1 2 2 4 90 2
config() { n=$((n + 1)); printf '%s' "$1" > "$out/config/$n"; }
config '{"n_positions":4,"vocab_size":5,"n_layer":1,"n_head":2,"n_embd":8}'
config '{"model_type":"gpt2","n_positions":4,"vocab_size":5,"n_layer":1,"n_head":2,"n_embd":8,"n_inner":null,"activation_function":"gelu_new","layer_norm_epsilon":1e-05,"resid_pdrop":0.1,"embd_pdrop":0.2,"attn_pdrop":0.3,"tie_word_embeddings":false,"scale_attn_weights":false,"scale_attn_by_inverse_layer_idx":false,"reorder_and_upcast_attn":false}'
config '{"model_type":"llama","max_position_embeddings":4,"vocab_size":5,"num_hidden_layers":1,"num_attention_heads":2,"hidden_size":8,"intermediate_size":12,"num_key_value_heads":1,"head_dim":4,"hidden_act":"silu","rms_norm_eps":1e-06,"rope_theta":500000.0,"rope_scaling":null,"rope_parameters":{"rope_type":"default","rope_theta":1e4},"attention_bias":true,"attention_dropout":0.1,"mlp_bias":false,"tie_word_embeddings":true}'
# The letter says which reader.
tokenizer() { n=$((n + 1)); printf "$1" > "$out/tokenizer/$n"; }
tokenizer 'm{"tokenizer":"byte","special":[{"id":256,"text":"<|endoftext|>"}]}'
tokenizer 'm{"tokenizer":"char","special":[{"id":1,"text":"<|a|>"}],"tokens":["a","\303\251","\360\237\230\200"]}'
# Every byte in GPT-2's characters, in the order of the bytes, as JSON strings.
bytes() {
  awk 'BEGIN {
    next_code = 256
    for (b = 0; b < 256; ++b) {
      itself = (b >= 33 && b <= 126) || (b >= 161 && b != 173)
      printf "\"\\u%04x\"'"$1"'", itself ? b : next_code++'"$2"'
    }
  }'
}
n=$((n + 1))
printf 'm{"tokenizer":"bpe","special":[],"tokens":[%s"aa","aaaa","ba"],"merges":["a a","aa aa","b a"]}' "$(bytes , '')" > "$out/tokenizer/$n"
n=$((n + 1))
{
  printf 'g{%s"<|endoftext|>":257,"ab":256}' "$(bytes ':%d,' ', b')"
  printf '\000#version: 0.2\na b\n'
} > "$out/tokenizer/$n"
encode() { n=$((n + 1)); printf "$1" > "$out/encode/$n"; }
encode "it'll've 12  words\\r\\n\\r\\n<|endoftext|> aaaaaaaaaaaaaaaaaaaa"
encode '\360\237\230\200 \303\251 \377\300\257\355\240\200\363\240 \342\200\250\302\205 abababab'
# A pickle, or a file that PyTorch wrote.
pickle() { n=$((n + 1)); printf 'p\200\002'"$1". > "$out/torch/$n"; }
tensor() {  # Storage, its key, elements, offset, shape, strides.
  printf '%s' 'ctorch._utils\n_rebuild_tensor_v2\n((X\007\000\000\000storagectorch\n'"$1"'Storage\nX\001\000\000\000'"$2"'X\003\000\000\000cpuK\'"$3"'tQK\'"$4($5"'t('"$6"'t\211ccollections\nOrderedDict\n)RtR'
}
pickle 'N'
pickle ']q\000(K\001M\001\002J\377\377\377\377\212\010\001\002\003\004\005\006\007\200G\077\340\000\000\000\000\000\000X\002\000\000\000\303\251\210\211Nh\000e'
pickle '}q\000(X\001\000\000\000aq\001K\001\205K\002K\003\206q\002r\003\000\000\000h\002\206\207K\005)j\003\000\000\000u'
pickle 'ccollections\nOrderedDict\n)R(X\001\000\000\000w'"$(tensor Float 0 006 001 'K\002K\002' 'K\002K\001')"'u}X\011\000\000\000_metadata}sb'
pickle '('"$(tensor Byte 0 030 000 'K\005' 'K\003')$(tensor Long 1 003 000 'K\002K\001' 'K\000K\001')$(tensor Bool 2 000 000 'K\000' 'K\001')"'t'
pickle '('"$(tensor Half 0 014 002 '' '')$(tensor BFloat16 1 014 000 'K\003K\002' 'K\001K\003')"'t'
pickle 'ctorch._utils\n_rebuild_parameter\n('"$(tensor Double 1 003 001 'K\001' 'K\001')"'\210ccollections\nOrderedDict\n)RtR'
pickle 'ctorch\nSize\nK\002K\003\206\205R'
cp "$(dirname "$0")"/../vectors/torch_files/*.pt "$out/torch"
