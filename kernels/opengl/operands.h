#pragma once
#include <memory>
#include <vector>

#include "kernels/opengl/session.h"

namespace kernels::opengl {

/// The arrays of an operation at one size, `sets` times over: inputs, and the output between two canaries. What is in
/// them is made on the host, which keeps the inputs for the reference.
class Operands {
 public:
  Operands(const Session& session, const Operation& operation, std::int64_t size,
           std::int64_t sets);  ///< throws Failure: out of memory, or more than a shader may see
  std::int64_t sets() const { return static_cast<std::int64_t>(sets_.size()); }
  std::int64_t size() const { return size_; }
  Arrays inputs() const { return host_; }

  void fill(std::uint32_t seed);  ///< the inputs of every set
  void poison(std::int64_t set);  ///< the output and its canaries
  /// Enqueues every dispatch of a rung on one set, with barriers between them.
  void enqueue(const Program& program, std::span<const Launch> launches, std::int64_t set,
               const std::string& name) const;
  std::vector<float> output(std::int64_t set) const;
  bool canaries_intact(std::int64_t set) const;

 private:
  struct Set {
    std::vector<std::unique_ptr<Buffer>> inputs;
    std::unique_ptr<Buffer> output;
  };
  std::int64_t all_output_bytes() const;

  const Session& session_;
  const Operation& operation_;
  std::int64_t size_, input_bytes_, output_bytes_;
  std::vector<Set> sets_;
  std::vector<std::vector<float>> host_;
  std::vector<std::uint32_t> poisoned_;
};

/// How many sets make every run start with its operands out of cache. OpenGL names no cache's size: together they are
/// 256 MiB or more, twice the largest last cache of a GPU.
std::int64_t cold_sets(const Operation& operation, std::int64_t size);

/// Throws Failure with one sentence unless the rung computes what it should at the operands' size: every number written
/// and right against float64, nothing written outside, and twice the same bits. Returns the deviation found.
Deviation check(const Session& session, const Operation& operation, Operands& operands, const Program& program,
                std::span<const Launch> launches, std::uint32_t seed, const Rung& rung);

}  // namespace kernels::opengl
