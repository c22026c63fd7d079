#!/usr/bin/env python3
"""Prints train/text/unicode_tables.h from the Unicode database of this Python:

    python3 train/text/unicode_tables.py > /tmp/tables.h && mv /tmp/tables.h train/text/unicode_tables.h

White_Space is no general category: it is the separators (Zs, Zl, Zp) and six controls.
"""
import unicodedata


def ranges(belongs):
    found = []
    for code in range(0x110000):
        if not belongs(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, what, belongs):
    found = ranges(belongs)
    count = sum(last - first + 1 for first, last in found)
    print(f"/// {what}: {len(found)} ranges with {count} characters.")
    print(f"inline constexpr unsigned {name}[] = {{")
    line = ""
    for first, last in found:
        item = f"0x{first:x}, 0x{last + 1:x},"
        if len(line) + len(item) + 1 > 118:
            print("   " + line)
            line = ""
        line += " " + item
    print("   " + line)
    print("};")


print(f"""// Which characters are letters, numbers and white space in Unicode {unicodedata.unidata_version}: the first of each
// range, and what follows its last. Printed by unicode_tables.py.
#pragma once

namespace mote::detail {{

// clang-format off""")
table("letter_borders", r"General category L (\p{L})", lambda c: unicodedata.category(c)[0] == "L")
table("number_borders", r"General category N (\p{N})", lambda c: unicodedata.category(c)[0] == "N")
table("space_borders", r"White_Space (\s)",
      lambda c: unicodedata.category(c)[0] == "Z" or c in "\t\n\v\f\r\x85")
print("""// clang-format on

}  // namespace mote::detail""")
