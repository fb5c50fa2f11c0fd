#pragma once
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

namespace trace_test {

/// The folder of real public traces, which are no part of the project: RIDGELINE_TRACES, or shared/data/traces beside
/// the source. Empty: not there.
inline std::filesystem::path real_traces() {
  const char* given = std::getenv("RIDGELINE_TRACES");
  const std::filesystem::path folder =
      given ? std::filesystem::path(given)
            : std::filesystem::path(support::source_file("")).parent_path().parent_path() / "shared/data/traces";
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder : std::filesystem::path();
}

/// Our own small traces.
inline std::string own_trace(const std::string& name) {
  return support::read_text(std::filesystem::path(support::data_file("traces")) / name);
}

inline std::string gz(const std::string& plain) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, plain.size()) + 32, '\0');
  std::string in = plain;
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace trace_test
