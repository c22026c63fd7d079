#!/bin/sh
# Writes the seed corpora of the fuzzers: sh tests/fuzz/seeds.sh FOLDER makes FOLDER/json and FOLDER/npy.
set -eu
mkdir -p "$1/json" "$1/npy"
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
