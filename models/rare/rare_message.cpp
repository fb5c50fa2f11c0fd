#include "models/rare/rare_message.h"

#include <algorithm>
#include <cmath>

#include "models/compression/small_network_data.h"
#include "models/machine/all_reduce_time.h"

namespace models::rare {

std::vector<GradientShape> shapes_of(RareLayers layers) {
  switch (layers) {
    case RareLayers::trained:
      return {{digit_pixels, rare_hidden}, {1, rare_hidden}, {rare_hidden, digit_classes}, {1, digit_classes}};
    case RareLayers::resnet18: {
      // He et al. 2016 with a 3 x 3 stem: stages of 64, 128, 256 and 512 channels, two blocks of two convolutions each.
      std::vector<GradientShape> out{{64, 27}, {1, 64}, {1, 64}};
      double in = 64;
      for (const double width : {64.0, 128.0, 256.0, 512.0}) {
        for (int convolution = 0; convolution < 4; ++convolution) {
          out.push_back({width, 9 * (convolution == 0 ? in : width)});
          out.insert(out.end(), 2, {1, width});
        }
        if (in != width) {
          out.push_back({width, in});
          out.insert(out.end(), 2, {1, width});
        }
        in = width;
      }
      out.push_back({10, 512});
      out.push_back({1, 10});
      return out;
    }
    case RareLayers::llama8b:
      return {{4096, 4096},  {1024, 4096},  {1024, 4096}, {4096, 4096}, {14336, 4096},
              {14336, 4096}, {4096, 14336}, {1, 4096},    {1, 4096}};
  }
  return {};
}

double RareMessage::sent(std::size_t workers) const {
  return ring_all_reduce_bytes(static_cast<std::int64_t>(workers), summed) +
         static_cast<double>(workers - 1) * gathered;
}

double RareMessage::ratio() const { return 4 / (summed + gathered); }

RareMessage rare_message(const RareSetup& setup, std::span<const GradientShape> shapes) {
  double n = 0, thin = 0;
  const auto rank = static_cast<double>(setup.rank);
  for (const GradientShape& s : shapes) {
    n += s.size();
    // A product that is no smaller than the matrix is not made.
    thin += s.rows > 1 ? std::min(s.size(), std::min({rank, s.rows, s.columns}) * (s.rows + s.columns)) : s.size();
  }
  if (rare_method_bits(setup.method) > 0)
    return {.summed = rare_method_bits(setup.method) / 8.0 + 4 * static_cast<double>(shapes.size()) / n};
  if (setup.method == RareMethod::top_k) return {.gathered = 8 * std::max(1.0, std::round(setup.kept * n)) / n};
  if (setup.method == RareMethod::power_sgd) return {.summed = 4 * thin / n};
  return {.summed = 4};
}

double rare_code_bytes(RareMethod method) {
  switch (method) {
    // Gradient and error are read for the scale and again to be rounded (16), the error and the sum are written (8);
    // codes come on top.
    case RareMethod::bits8:
      return 26;
    case RareMethod::bits4:
      return 25;
    case RareMethod::sign:
      return 24.25;
    // Gradient and error are read, their sum is written (12); a radix select reads it four times (16); the kept are
    // taken and the rest is the new error (8); the mean is cleared and filled (4).
    case RareMethod::top_k:
      return 40;
    // Gradient and error are read, their sum is written (12); each of two products reads it (8); their product is taken
    // off it and written as the mean (12).
    case RareMethod::power_sgd:
      return 32;
    // The mean, the shared weights and the momentum are read (12); momentum, shared and own weights are written (12).
    case RareMethod::diloco:
      return 24;
    default:
      return 0;
  }
}

}  // namespace models::rare
