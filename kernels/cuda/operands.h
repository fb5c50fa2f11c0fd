#pragma once
#include <vector>

#include "kernels/cuda/session.h"

namespace kernels::cuda {

/// The arrays of an operation at one size, `sets` times over, in one allocation: inputs, then the output between two
/// canaries.
class Operands {
 public:
  Operands(const Session& session, const Operation& operation, std::int64_t size,
           std::int64_t sets);  ///< throws Failure: out of memory
  std::int64_t sets() const { return sets_; }
  std::int64_t size() const { return size_; }

  void fill(std::uint32_t seed) const;  ///< the inputs of every set
  void poison(std::int64_t set) const;  ///< the output and its canaries
  /// Enqueues every launch of a rung on one set.
  void enqueue(Function function, std::span<const Launch> launches, std::int64_t set, const std::string& name) const;
  std::vector<float> output(std::int64_t set) const;
  bool canaries_intact(std::int64_t set) const;

 private:
  DevicePointer input_at(std::int64_t set, int input) const;
  DevicePointer output_at(std::int64_t set) const;

  const Session& session_;
  const Operation& operation_;
  std::int64_t size_, sets_, input_bytes_, output_bytes_, set_bytes_;
  DeviceArray memory_;
};

/// How many sets make every run start with its operands out of cache: together three times L2 or more.
std::int64_t cold_sets(const Session& session, const Operation& operation, std::int64_t size);

/// Throws Failure with one sentence unless the rung computes what it should at the operands' size: every number written
/// and right against float64, nothing written outside, and twice the same bits. Returns the deviation found.
Deviation check(const Session& session, const Operation& operation, const Operands& operands, Function function,
                std::span<const Launch> launches, std::uint32_t seed, const std::string& name);

}  // namespace kernels::cuda
