#pragma once
#include <vector>

#include "kernels/cuda/session.h"

namespace kernels::cuda {

/// The functions of a rung's module, one for each of its launches, allowed what dynamic shared memory they ask for.
/// Throws Failure.
std::vector<Function> functions_of(const Session& session, const LoadedModule& module, std::string_view entry,
                                   std::span<const Launch> launches);

/// The arrays of an operation at one size, `sets` times over, in one allocation: inputs, then the output and the
/// scratch memory, each between two canaries.
class Operands {
 public:
  Operands(const Session& session, const Operation& operation, std::int64_t size,
           std::int64_t sets);  ///< throws Failure: out of memory
  std::int64_t sets() const { return sets_; }
  std::int64_t size() const { return size_; }

  void fill(std::uint32_t seed) const;  ///< the inputs of every set
  void poison(std::int64_t set) const;  ///< the output, the scratch memory and their canaries
  /// Enqueues every launch of a rung on one set; `functions` as functions_of() gives them.
  void enqueue(std::span<const Function> functions, std::span<const Launch> launches, std::int64_t set,
               const std::string& name) const;
  std::vector<std::byte> output(std::int64_t set) const;
  bool canaries_intact(std::int64_t set) const;

 private:
  DevicePointer input_at(std::int64_t set, int input) const;
  DevicePointer output_at(std::int64_t set) const;

  DevicePointer scratch_at(std::int64_t set) const;
  void enqueue_given(Function function, const Launch& launch, std::int64_t set, const std::string& name) const;

  const Session& session_;
  const Operation& operation_;
  std::int64_t size_, sets_, output_bytes_, scratch_bytes_, set_bytes_;
  std::vector<std::int64_t> input_from_;  ///< where each input begins in its set, and where the last one ends
  DeviceArray memory_;
};

/// How many sets make every run start with its operands out of cache: together three times L2 or more.
std::int64_t cold_sets(const Session& session, const Operation& operation, std::int64_t size);

/// A rung as it is launched at one size.
struct Prepared {
  const Rung* rung = nullptr;
  std::vector<Launch> launches;
  std::vector<Function> functions;
};

/// Throws Failure with one sentence unless a result was written whole and is right within its bound.
void must_agree(const Deviation& deviation, std::int64_t size);

/// Throws Failure with one sentence unless the rung computes what it should at the operands' size: every number written
/// and right against float64, nothing written outside, and twice the same bits. Returns the deviation found. `expected`
/// is kept from rung to rung of one operation at one size.
Deviation check(const Session& session, const Operation& operation, const Operands& operands, const Prepared& prepared,
                std::uint32_t seed, ExpectedSums& expected);

}  // namespace kernels::cuda
