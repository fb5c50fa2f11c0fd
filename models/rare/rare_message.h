#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "models/rare/rare_training.h"

/// What workers put on their links: bytes counted on the layers of a model.
namespace models::rare {

/// A tensor of a gradient; what has one row (biases, norms) is never cut into thin matrices.
struct GradientShape {
  double rows = 1, columns = 1;
  double size() const { return rows * columns; }
};

/// Layers on which the bytes of a message are counted.
enum class RareLayers : std::uint8_t {
  trained,   ///< the small network: 64 x 16, 16 x 10 and their biases
  resnet18,  ///< ResNet-18 as it is made for CIFAR-10, convolutions as out x (in x 3 x 3)
  llama8b    ///< one layer of Llama 3 8B
};
inline constexpr std::size_t rare_layers_count = 3;
std::vector<GradientShape> shapes_of(RareLayers layers);

/// One worker's message of a sync, in bytes for each parameter: a buffer that is summed, or a piece that everybody
/// gathers from everybody. Sums of codes are no codes, so that rounded values are scattered to be summed, rounded once
/// more and gathered: as many bytes and steps as a ring that sums.
struct RareMessage {
  double summed = 0, gathered = 0;
  /// Bytes that a worker sends in one sync for each parameter, on a ring: 2 (n - 1) / n of what is summed, n - 1 pieces
  /// of what is gathered.
  double sent(std::size_t workers) const;
  /// How many times smaller the message is than FP32 values.
  double ratio() const;
};
/// Rounded values have an FP32 scale a tensor; a value of top-k has 4 bytes and its place 4 more; rank r of a matrix is
/// r (rows + columns) FP32 values, and what is no matrix is sent whole (Vogels et al. 2019, appendix).
RareMessage rare_message(const RareSetup& setup, std::span<const GradientShape> shapes);

/// Bytes that a worker's own chip reads and writes for each parameter at a sync to make a message and to read one, or
/// for an outer step, where every part of it is one pass over FP32 values; 0 where there is nothing to do but the sum.
double rare_code_bytes(RareMethod method);

}  // namespace models::rare
