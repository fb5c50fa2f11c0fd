#pragma once
#include <string>
#include <vector>

namespace kernels {

/// One timed run of an operation, as the kernel lab or any other tool measured it.
/// Quantities are SI; `flops` and `bytes` are counts of the work, not rates.
struct Measurement {
  std::string name;
  double flops = 0;
  double bytes = 0;
  double time_s = 0;

  double intensity() const { return flops / bytes; }         ///< flop per byte
  double flops_per_s() const { return flops / time_s; }      ///< achieved rate
  bool operator==(const Measurement&) const = default;
};

/// Reads measurements from CSV text with the header `name,flops,bytes,time_s` (columns in any order, others ignored).
/// On a bad row `error` is one sentence with the line, the column and what is expected, and `rows` is empty.
struct Measurements {
  std::vector<Measurement> rows;
  std::string error;
};
Measurements parse_measurements(const std::string& csv);

}  // namespace kernels
