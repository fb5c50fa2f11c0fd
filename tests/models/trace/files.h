#pragma once
#include <filesystem>
#include <string>

#include "tests/support/base/files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/paths.h"

namespace trace_test {

/// The folder of real public traces: RIDGELINE_TRACES may name it.
inline std::filesystem::path real_traces() { return support::public_folder("RIDGELINE_TRACES", "shared/data/traces"); }

/// Our own small traces.
inline std::string own_trace(const std::string& name) {
  return support::read_text(std::filesystem::path(support::data_file("traces")) / name);
}

using support::gzipped;

}  // namespace trace_test
