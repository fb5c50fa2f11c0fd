#include "models/debugging/twin_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace models::debugging {
namespace {

constexpr std::uint64_t hash_factor = 0x9E3779B97F4A7C15u;

std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * hash_factor;
  return h ^ (h >> 32);
}

bool equal_bits(std::span<const float> a, std::span<const float> b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Sum of squares in eight partial sums: a fixed order, and fast.
template <class At>
double summed_squares(std::size_t n, At&& at) {
  std::array<double, 8> sums{};
  for (std::size_t k = 0; k + 8 <= n; k += 8)
    for (std::size_t i = 0; i < 8; ++i) {
      const double x = at(k + i);
      sums[i] += x * x;
    }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

double norm_of(std::span<const float> numbers) {
  return std::sqrt(summed_squares(numbers.size(), [&](std::size_t k) { return static_cast<double>(numbers[k]); }));
}

/// The bits from `bit` on, as many as flip together, of the half of the 64-bit word in which entry `entry` lies.
std::uint64_t upset_mask(const TwinFault& f) {
  std::uint64_t mask = 0;
  const int first = (f.entry % 2) * 32 + f.bit;
  for (int u = 0; u < f.upsets; ++u) mask |= std::uint64_t{1} << ((first + u) % 64);
  return mask;
}

/// The bits of the chosen number alone: what flips outside of memory.
std::uint32_t upset_bits(const TwinFault& f) {
  const std::uint64_t mask = upset_mask(f);
  return static_cast<std::uint32_t>(f.entry % 2 ? mask >> 32 : mask);
}

/// A particle hits a word of memory: two neighbouring numbers, with check bits or without.
FlippedValue strike_memory(const TwinFault& f, float* numbers) {
  const std::size_t own = static_cast<std::size_t>(f.entry), first = own & ~std::size_t{1};
  FlippedValue value{.before = numbers[own]};
  std::uint64_t word = 0;
  std::memcpy(&word, numbers + first, sizeof word);
  const std::uint64_t hit = word ^ upset_mask(f);
  std::uint64_t left = hit;
  if (f.ecc) {
    const SecdedRead read = secded_decode({hit, secded_encode(word).check});
    left = read.data;
    value.ecc = left == word                               ? EccOutcome::corrected
                : read.verdict == SecdedVerdict::detected  ? EccOutcome::detected
                : read.verdict == SecdedVerdict::corrected ? EccOutcome::miscorrected
                                                           : EccOutcome::unseen;
  }
  std::memcpy(numbers + first, &left, sizeof left);
  value.after = numbers[own];
  return value;
}

bool in_memory(const TwinFault& f) { return f.tensor == TwinTensor::weight || f.tensor == TwinTensor::moment; }

/// What the second run keeps while it goes.
struct Beside {
  const TwinHealthy& healthy;
  const TwinFault& fault;
  const LossLimit& limit;
  TwinSecond& out;
  const TwinPass& pass;
  const TwinState& state;

  std::span<const float> ours(TwinCell c) const { return cell_numbers(c, pass, state); }
  std::span<const float> theirs(TwinCell c, std::size_t step) const {
    return cell_numbers(c, healthy.passes[step], healthy.states[step + 1]);
  }

  void find_first(std::size_t step) const {
    for (int i = 0; !out.first && i < twin_cells; ++i)
      if (!equal_bits(ours(twin_cell(i)), theirs(twin_cell(i), step)))
        out.first = FirstCell{static_cast<int>(step), twin_cell(i)};
  }

  void find_by_norm(std::size_t step) const {
    for (int i = twin_layers; !out.by_norm && i < twin_cells; ++i) {
      const TwinCell cell = twin_cell(i);
      if (cell.tensor == TwinTensor::moment) continue;
      const double a = norm_of(theirs(cell, step)), b = norm_of(ours(cell));
      if (!(std::abs(b - a) <= 0.01 * std::max(a, 1e-8))) out.by_norm = FirstCell{static_cast<int>(step), cell};
    }
  }

  double weights_apart(std::size_t step) const {
    double apart = 0, length = 0;
    for (int l = 0; l < twin_layers; ++l) {
      const auto a = theirs({TwinTensor::weight, l}, step), b = ours({TwinTensor::weight, l});
      apart += summed_squares(a.size(),
                              [&](std::size_t k) { return static_cast<double>(b[k]) - static_cast<double>(a[k]); });
      length += summed_squares(a.size(), [&](std::size_t k) { return static_cast<double>(a[k]); });
    }
    return std::sqrt(apart / length);
  }

  int loudest(std::size_t step) const {
    int most = -1;
    double difference = 0;
    for (int l = 0; l < twin_layers; ++l) {
      const double here = cell_difference(theirs({TwinTensor::weight, l}, step), ours({TwinTensor::weight, l}));
      if (!(here <= difference)) {
        most = l;
        difference = here;
      }
    }
    return most;
  }

  void find_parts(std::size_t step) const {
    if (!out.first || out.parts_step) return;
    const double gap = std::abs(out.losses[step] - healthy.passes[step].loss);
    if (gap <= limit.spreads * limit.spread[step]) return;
    out.parts_step = static_cast<int>(step);
    out.loudest_layer = loudest(step);
  }

  void count_next(std::size_t step) const {
    if (!out.first || static_cast<int>(step) != out.first->step + 1) return;
    for (int l = 0; l < twin_layers; ++l)
      out.layers_next += !equal_bits(ours({TwinTensor::weight, l}), theirs({TwinTensor::weight, l}, step));
  }

  void watch_layers(std::size_t step, bool last) const {
    for (int l = 0; l < twin_layers; ++l) {
      const auto layer = static_cast<std::size_t>(l);
      if (out.layer_step[layer] >= 0 && !last) continue;
      const double here = cell_difference(theirs({TwinTensor::weight, l}, step), ours({TwinTensor::weight, l}));
      if (out.layer_step[layer] < 0 && here > 0) {
        out.layer_step[layer] = static_cast<int>(step);
        out.layer_first[layer] = here;
      }
      if (last) out.layer_end[layer] = here;
    }
  }

  void draw(std::size_t step) const {
    for (int i = 0; i < twin_cells; ++i) {
      const TwinCell c = twin_cell(i);
      const auto kind = static_cast<std::size_t>(c.tensor), layer = static_cast<std::size_t>(c.layer);
      out.picture.differences[kind][layer][step] = static_cast<float>(cell_difference(theirs(c, step), ours(c)));
      out.picture.norms[kind][layer][step] = static_cast<float>(norm_of(ours(c)));
    }
  }
};

/// Flips what is due before the step. Returns false where ECC ends the run.
bool strike(const TwinFault& f, int step, TwinState& state, StepFault& plan, TwinSecond& out) {
  if (f.kind != PlantedFault::flipped_bit || step != f.step) return true;
  const auto layer = static_cast<std::size_t>(f.layer);
  if (in_memory(f)) {
    TwinLayer& hit = state[layer];
    out.flipped = strike_memory(f, f.tensor == TwinTensor::weight ? hit.weights.data() : hit.moments.data());
    return out.flipped->ecc != EccOutcome::detected;
  }
  (f.tensor == TwinTensor::activation ? plan.flipped_activation_layer : plan.flipped_gradient_layer) = f.layer;
  plan.flipped_entry = f.entry;
  plan.flipped_bits = upset_bits(f);
  return true;
}

/// The number that was flipped on its way, read from what the step computed.
void read_flipped(const TwinFault& f, int step, const TwinPass& pass, TwinSecond& out) {
  if (f.kind != PlantedFault::flipped_bit || step != f.step || in_memory(f)) return;
  const auto layer = static_cast<std::size_t>(f.layer), entry = static_cast<std::size_t>(f.entry);
  const float after =
      f.tensor == TwinTensor::activation ? pass.activations[layer][entry] : pass.gradients[layer][entry];
  out.flipped =
      FlippedValue{.before = std::bit_cast<float>(std::bit_cast<std::uint32_t>(after) ^ upset_bits(f)), .after = after};
}

void begin_picture(const TwinHealthy& healthy, int steps, int first, TwinPicture& picture) {
  for (int i = 0; i < twin_cells; ++i) {
    const TwinCell c = twin_cell(i);
    const auto kind = static_cast<std::size_t>(c.tensor), layer = static_cast<std::size_t>(c.layer);
    picture.differences[kind][layer].assign(static_cast<std::size_t>(steps), 0.0f);
    std::vector<float>& norms = picture.norms[kind][layer];
    norms.assign(static_cast<std::size_t>(steps), 0.0f);
    for (std::size_t s = 0; s < static_cast<std::size_t>(first); ++s)
      norms[s] = static_cast<float>(norm_of(cell_numbers(c, healthy.passes[s], healthy.states[s + 1])));
  }
}

}  // namespace

std::uint64_t hash_of(std::span<const float> numbers, std::uint64_t start) {
  const auto word_at = [&numbers](std::size_t k) {
    std::uint64_t word = 0;
    std::memcpy(&word, numbers.data() + k, sizeof word);
    return word;
  };
  // Four hashes side by side, so that none waits for its own product.
  std::uint64_t a = start, b = start + 1, c = start + 2, d = start + 3;
  std::size_t k = 0;
  for (; k + 8 <= numbers.size(); k += 8) {
    a = mixed(a, word_at(k));
    b = mixed(b, word_at(k + 2));
    c = mixed(c, word_at(k + 4));
    d = mixed(d, word_at(k + 6));
  }
  std::uint64_t h = mixed(mixed(mixed(mixed(numbers.size(), a), b), c), d);
  for (; k < numbers.size(); ++k) h = mixed(h, std::bit_cast<std::uint32_t>(numbers[k]));
  return mixed(h, hash_factor);
}

std::span<const float> cell_numbers(TwinCell cell, const TwinPass& pass, const TwinState& after) {
  const auto layer = static_cast<std::size_t>(cell.layer);
  switch (cell.tensor) {
    case TwinTensor::activation:
      return pass.activations[layer];
    case TwinTensor::gradient:
      return pass.gradients[layer];
    case TwinTensor::moment:
      return after[layer].moments;
    case TwinTensor::weight:
      return after[layer].weights;
  }
  return {};
}

TwinHashes hashes_of(const TwinPass& pass, const TwinState& after) {
  TwinHashes hashes;
  for (int i = 0; i < twin_cells; ++i)
    hashes[static_cast<std::size_t>(i)] = hash_of(cell_numbers(twin_cell(i), pass, after));
  return hashes;
}

double cell_difference(std::span<const float> a, std::span<const float> b) {
  if (equal_bits(a, b)) return 0;
  const double apart = std::sqrt(
      summed_squares(a.size(), [&](std::size_t k) { return static_cast<double>(b[k]) - static_cast<double>(a[k]); }));
  const double share = apart / std::max(norm_of(a), 1e-30);
  return std::isfinite(share) ? std::max(share, 1e-12) : std::numeric_limits<double>::infinity();
}

std::shared_ptr<const TwinHealthy> train_healthy(std::uint64_t seed, const std::atomic<bool>* cancelled) {
  auto run = std::make_shared<TwinHealthy>();
  run->seed = seed;
  run->states.reserve(twin_steps + 1);
  run->states.push_back(twin_start(seed));
  run->passes.resize(twin_steps);
  run->hashes.reserve(twin_steps);
  for (int s = 0; s < twin_steps; ++s) {
    if (cancelled && *cancelled) return nullptr;
    TwinPass& pass = run->passes[static_cast<std::size_t>(s)];
    run->states.push_back(run->states.back());
    twin_step(seed, s, {}, run->states.back(), pass);
    run->hashes.push_back(hashes_of(pass, run->states.back()));
  }
  return run;
}

std::vector<double> healthy_losses(std::uint64_t seed) {
  TwinState state = twin_start(seed);
  TwinPass pass;
  std::vector<double> losses(twin_steps);
  for (int s = 0; s < twin_steps; ++s) {
    twin_step(seed, s, {}, state, pass);
    losses[static_cast<std::size_t>(s)] = pass.loss;
  }
  return losses;
}

std::vector<double> healthy_spread() {
  std::vector<std::vector<double>> losses;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) losses.push_back(healthy_losses(seed));
  std::vector<double> variance(twin_steps), spread(twin_steps);
  for (std::size_t s = 0; s < twin_steps; ++s) {
    double mean = 0, squares = 0;
    for (const auto& run : losses) mean += run[s] / static_cast<double>(losses.size());
    for (const auto& run : losses) squares += (run[s] - mean) * (run[s] - mean);
    variance[s] = squares / static_cast<double>(losses.size() - 1);
  }
  for (int s = 0; s < twin_steps; ++s) {
    const int from = std::max(0, s - 8), to = std::min(twin_steps - 1, s + 8);
    double sum = 0;
    for (int at = from; at <= to; ++at) sum += variance[static_cast<std::size_t>(at)];
    spread[static_cast<std::size_t>(s)] = std::sqrt(sum / (to - from + 1));
  }
  return spread;
}

TwinSecond run_second(const TwinHealthy& healthy, const TwinFault& fault, int steps, const LossLimit& limit,
                      bool picture, const std::atomic<bool>* cancelled) {
  TwinSecond out;
  out.layer_step.fill(-1);
  const int first = fault.kind == PlantedFault::none || !fault.fixed_order ? 0 : std::min(fault.step, steps);
  for (std::size_t s = 0; s < static_cast<std::size_t>(first); ++s) {
    out.losses.push_back(healthy.passes[s].loss);
    out.hashes.push_back(healthy.hashes[s]);
  }
  if (picture) begin_picture(healthy, steps, first, out.picture);
  TwinState state = healthy.states[static_cast<std::size_t>(first)];
  TwinParameters before{};
  TwinPass pass;
  const Beside beside{healthy, fault, limit, out, pass, state};
  for (int s = first; s < steps && !(cancelled && *cancelled); ++s) {
    const auto step = static_cast<std::size_t>(s);
    if (fault.kind == PlantedFault::stale_weights && s == fault.step && s > 0)
      before = healthy.states[step - 1][static_cast<std::size_t>(fault.layer)].weights;
    StepFault plan = step_fault(fault, s, &before);
    if (!strike(fault, s, state, plan, out)) {
      out.stopped = true;
      break;
    }
    twin_step(healthy.seed, s, plan, state, pass);
    read_flipped(fault, s, pass, out);
    out.losses.push_back(pass.loss);
    out.hashes.push_back(hashes_of(pass, state));
    beside.find_first(step);
    if (out.first) beside.find_by_norm(step);
    if (out.first && out.first->step == s) out.apart_first = beside.weights_apart(step);
    beside.find_parts(step);
    beside.count_next(step);
    if (picture) beside.draw(step);
    const bool last = s + 1 == steps || !std::isfinite(pass.loss);
    beside.watch_layers(step, last);
    if (last) {
      out.not_a_number = !std::isfinite(pass.loss);
      out.apart_end = beside.weights_apart(step);
      if (!out.parts_step && out.first) out.loudest_layer = beside.loudest(step);
      break;
    }
  }
  return out;
}

}  // namespace models::debugging
