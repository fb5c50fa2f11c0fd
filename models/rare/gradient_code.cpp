#include "models/rare/gradient_code.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "models/base/lanes.h"

namespace models::rare {
namespace {

std::size_t rank_of(const CodedTensor& t, std::size_t rank) { return std::min({rank, t.rows, t.columns}); }

/// Columns of a rows x rank matrix made orthogonal and of length 1, one after the other (Gram, Schmidt).
void orthogonalize(std::vector<float>& p, std::size_t rows, std::size_t rank) {
  for (std::size_t c = 0; c < rank; ++c) {
    for (std::size_t before = 0; before < c; ++before) {
      float dot = 0;
      for (std::size_t i = 0; i < rows; ++i) dot += p[i * rank + c] * p[i * rank + before];
      for (std::size_t i = 0; i < rows; ++i) p[i * rank + c] -= dot * p[i * rank + before];
    }
    float square = 0;
    for (std::size_t i = 0; i < rows; ++i) square += p[i * rank + c] * p[i * rank + c];
    const float scale = 1 / (std::sqrt(square) + 1e-12f);
    for (std::size_t i = 0; i < rows; ++i) p[i * rank + c] *= scale;
  }
}

/// 1 - |left out|^2 / |all|^2.
double kept_of(double left_out, double all) { return all > 0 ? std::max(0.0, 1 - left_out / all) : 1; }

}  // namespace

double square_sum(std::span<const float> v) {
  double s = 0;
  for (const float x : v) s += static_cast<double>(x) * static_cast<double>(x);
  return s;
}

GradientCode::GradientCode(const SmallNetwork& network, const RareSetup& setup) : setup_(setup) {
  for (const DenseLayer& l : network.layers) {
    tensors_.push_back({count_, l.inputs, l.outputs});
    count_ += l.inputs * l.outputs;
    tensors_.push_back({count_, 1, l.outputs});
    count_ += l.outputs;
  }
  if (!rare_method_compresses(setup.method)) return;
  errors_.assign(setup.workers, std::vector<float>(count_));
  sum_error_.assign(count_, 0.0f);
  if (setup.method != RareMethod::power_sgd) return;
  SeededRandom random(random_stream(static_cast<std::int64_t>(setup.seed), 7));
  for (const CodedTensor& t : tensors_) {
    right_.emplace_back(t.rows > 1 ? t.columns * rank_of(t, setup.rank) : 0);
    for (float& v : right_.back()) v = static_cast<float>(random.normal());
  }
}

/// Each tensor to its codes and back: -q..q times a scale, or the sign times the mean size.
void GradientCode::round_values(std::vector<float>& values) const {
  const int bits = rare_method_bits(setup_.method);
  for (const CodedTensor& t : tensors_) {
    const std::span<float> part(values.data() + t.at, t.size());
    float largest = 0, sizes = 0;
    for (const float v : part) {
      largest = std::max(largest, std::abs(v));
      sizes += std::abs(v);
    }
    if (bits == 1) {
      const float scale = sizes / static_cast<float>(t.size());
      for (float& v : part) v = v < 0 ? -scale : scale;
      continue;
    }
    const float step = largest / static_cast<float>((1 << (bits - 1)) - 1);
    if (!(step > 0)) continue;
    for (float& v : part) v = lanes::round(v / step) * step;
  }
}

void GradientCode::keep_largest(std::vector<float>& values) {
  const auto wanted = static_cast<std::size_t>(std::max(1.0, std::round(setup_.kept * static_cast<double>(count_))));
  if (wanted >= count_) return;
  // The bits of a size are in the order of sizes; equal ones are parted by place, so that every machine keeps the same.
  keys_.resize(count_);
  for (std::size_t i = 0; i < count_; ++i)
    keys_[i] = std::uint64_t{std::bit_cast<std::uint32_t>(std::abs(values[i]))} << 32 | (count_ - i);
  std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(wanted - 1), keys_.end(),
                   std::greater<>());
  const std::uint64_t least = keys_[wanted - 1];
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint64_t key = std::uint64_t{std::bit_cast<std::uint32_t>(std::abs(values[i]))} << 32 | (count_ - i);
    if (key < least) values[i] = 0;
  }
}

/// One step of power iteration, warm from the step before: P = M Q, orthogonal, Q = M' P; both are averaged.
double GradientCode::average_low_rank(std::span<const std::vector<float>> rows, std::vector<float>& mean) {
  const float share = 1.0f / static_cast<float>(rows.size());
  std::vector<float> all(count_), left;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < count_; ++i) all[i] += share * row[i];
  mean = all;
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const CodedTensor& t = tensors_[k];
    if (t.rows == 1) continue;
    const std::size_t rank = rank_of(t, setup_.rank);
    std::vector<float>& q = right_[k];
    left.assign(t.rows * rank, 0.0f);
    // Sums of the workers' products are the product of their sum: both are linear.
    const float* m = all.data() + t.at;
    for (std::size_t i = 0; i < t.rows; ++i)
      for (std::size_t j = 0; j < t.columns; ++j)
        for (std::size_t c = 0; c < rank; ++c) left[i * rank + c] += m[i * t.columns + j] * q[j * rank + c];
    orthogonalize(left, t.rows, rank);
    std::fill(q.begin(), q.end(), 0.0f);
    for (std::size_t i = 0; i < t.rows; ++i)
      for (std::size_t j = 0; j < t.columns; ++j)
        for (std::size_t c = 0; c < rank; ++c) q[j * rank + c] += m[i * t.columns + j] * left[i * rank + c];
    for (std::size_t i = 0; i < t.rows; ++i)
      for (std::size_t j = 0; j < t.columns; ++j) {
        float v = 0;
        for (std::size_t c = 0; c < rank; ++c) v += left[i * rank + c] * q[j * rank + c];
        mean[t.at + i * t.columns + j] = v;
      }
  }
  const double whole = square_sum(all);
  for (std::size_t i = 0; i < count_; ++i) all[i] -= mean[i];
  return kept_of(square_sum(all), whole);
}

double GradientCode::average(std::span<const std::vector<float>> gradients, std::vector<float>& mean) {
  const float share = 1.0f / static_cast<float>(gradients.size());
  mean.assign(count_, 0.0f);
  if (!rare_method_compresses(setup_.method)) {
    for (const auto& g : gradients)
      for (std::size_t i = 0; i < count_; ++i) mean[i] += share * g[i];
    return 1;
  }
  sources_.assign(gradients.begin(), gradients.end());
  for (std::size_t w = 0; w < sources_.size() && setup_.error_feedback; ++w)
    for (std::size_t i = 0; i < count_; ++i) sources_[w][i] += errors_[w][i];
  if (setup_.method == RareMethod::power_sgd) {
    const double kept = average_low_rank(sources_, mean);
    for (std::size_t w = 0; w < sources_.size(); ++w)
      for (std::size_t i = 0; i < count_; ++i) errors_[w][i] = sources_[w][i] - mean[i];
    return kept;
  }
  double all = 0, left_out = 0;
  for (std::size_t w = 0; w < sources_.size(); ++w) {
    all += square_sum(sources_[w]);
    std::vector<float>& e = errors_[w];
    e = sources_[w];
    if (setup_.method == RareMethod::top_k)
      keep_largest(sources_[w]);
    else
      round_values(sources_[w]);
    for (std::size_t i = 0; i < count_; ++i) {
      e[i] -= sources_[w][i];
      mean[i] += share * sources_[w][i];
    }
    left_out += square_sum(e);
  }
  if (rare_method_bits(setup_.method) > 0) {
    // Sums of codes are no codes: whoever sums a part rounds it once more before everybody gets it.
    if (setup_.error_feedback)
      for (std::size_t i = 0; i < count_; ++i) mean[i] += sum_error_[i];
    sum_error_ = mean;
    round_values(mean);
    for (std::size_t i = 0; i < count_; ++i) sum_error_[i] -= mean[i];
  }
  return kept_of(left_out, all);
}

}  // namespace models::rare
