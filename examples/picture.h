// Writing a picture where the caller of a lesson asked for one.
#pragma once

#include <fstream>
#include <string>

#include "engine/base/check.h"

/// Writes an SVG document. Errors: a file that cannot be written.
inline void save_picture(const std::string& path, const std::string& svg) {
  std::ofstream out(path, std::ios::binary);
  out << svg;
  out.close();
  mote::check(out.good(), "cannot write ", path);
}
