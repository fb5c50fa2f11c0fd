#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/compression/small_network.h"
#include "models/rare/rare_training.h"

/// How gradients are put into messages, and what all workers make of these.
namespace models::rare {

double square_sum(std::span<const float> v);

/// A tensor within a row of numbers: a matrix, or a bias, which has one row.
struct CodedTensor {
  std::size_t at = 0, rows = 1, columns = 1;
  std::size_t size() const { return rows * columns; }
};

/// The compressor of every worker with what each remembers between steps.
class GradientCode {
 public:
  GradientCode(const SmallNetwork& network, const RareSetup& setup);
  /// The mean that all workers get, from the gradient of each. Returns what the messages hold of what they stand for,
  /// as a share of its square: 1 - |left out|^2 / |all|^2, 1 where nothing is left out. A message of low rank stands
  /// for the mean, any other for its worker's gradient and error.
  double average(std::span<const std::vector<float>> gradients, std::vector<float>& mean);

 private:
  void round_values(std::vector<float>& values) const;
  void keep_largest(std::vector<float>& values);
  /// Returns what the mean keeps of that of the rows.
  double average_low_rank(std::span<const std::vector<float>> rows, std::vector<float>& mean);

  RareSetup setup_;
  std::vector<CodedTensor> tensors_;
  std::size_t count_ = 0;
  std::vector<std::vector<float>> errors_;  ///< by worker
  std::vector<float> sum_error_;            ///< errors of those who sum: rounded once more before it is handed out
  std::vector<std::vector<float>> right_;   ///< power_sgd: the thin right matrix of each tensor, columns x rank
  std::vector<std::vector<float>> sources_;
  std::vector<std::uint64_t> keys_;  ///< room for the choice of the largest
};

}  // namespace models::rare
