#pragma once
#include <cstdint>
#include <vector>

namespace models {

/// A tensor as networks have them: a bell, and a few elements far outside it, as activations of large language models
/// show in some channels (Dettmers et al., LLM.int8(), arXiv:2208.07339).
struct OutlierTensor {
  std::int64_t elements = 256, outliers = 3;
  double outlier_size = 24;  ///< in standard deviations, the sign by chance
  std::uint64_t seed = 1;
};
/// The others have mean 0 and standard deviation 1 in expectation. The same seed gives the same bell whatever the
/// outliers.
std::vector<double> outlier_tensor(const OutlierTensor& what);

}  // namespace models
