#include "models/inference/speculative.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/counter_random.h"
#include "models/base/integer_math.h"

namespace models::inference {
namespace {

constexpr std::string_view leviathan = "Leviathan et al. 2023, table 4: T5-XXL, English to German";
constexpr std::string_view vllm_eagle = "vLLM issue 20780: Llama 3.1 8B, MT-Bench, one request";

// Acceptances and costs of the first three are as printed. Of the others the acceptance is that which gives the printed
// tokens a round at that length, and the cost of a draft token (tokens a round / speed-up - 1) / length.
constexpr std::array<KnownDraft, 9> drafts{{
    {"t5-small", "T5-small", 0.75, 7, 0.02, 3.4, leviathan},
    {"t5-base", "T5-base", 0.80, 7, 0.04, 2.8, leviathan},
    {"t5-large", "T5-large", 0.82, 7, 0.11, 1.7, leviathan},
    {"mtp-1", "MTP of 1", 0.92, 1, 0.0787, 1.78, "TensorRT-LLM blog 1: DeepSeek-R1 on eight B200, one request"},
    {"mtp-3", "MTP of 3", 0.7701, 3, 0.0789, 2.28, "TensorRT-LLM blog 1: DeepSeek-R1 on eight B200, one request"},
    {"eagle-1", "EAGLE", 0.6338, 3, 0.1299, 1.648, vllm_eagle},
    {"eagle-3", "EAGLE-3", 0.7631, 3, 0.2045, 1.729, vllm_eagle},
    {"medusa", "Medusa", 0.6014, 5, 0.0656, 1.80, "Spec-Bench: Vicuna 13B on A100, greedy"},
    {"lookup", "Prompt lookup", 0.4012, 10, 0.0071, 1.56, "Spec-Bench: Vicuna 13B on A100, greedy"},
}};

/// A row of probabilities: exponential draws over their sum, and 0 for the last word.
void fill_target(std::vector<double>& row, std::uint64_t stream, std::size_t before) {
  double sum = 0;
  for (std::size_t j = 0; j + 1 < row.size(); ++j)
    sum += row[j] = -std::log(open_draw(stream, before * row.size() + j));
  row.back() = 0;
  for (double& p : row) p /= sum;
}

/// Half of the sum of differences.
double distance(const std::vector<double>& p, const std::vector<double>& r) {
  double sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) sum += std::abs(p[j] - r[j]);
  return sum / 2;
}

/// What the draft is mistaken for: the target's likely words for its unlikely ones, and, where that is not far enough
/// off, the word that the target never writes.
std::vector<double> mistake(const std::vector<double>& p, double needed) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> r(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) r[order[j]] = p[order[p.size() - 1 - j]];
  const double off = distance(p, r);
  if (off >= needed) return r;
  // Towards the word of no probability the distance grows to 1 without a step.
  double lo = 0, hi = 1;
  std::vector<double> mixed(p.size());
  for (int i = 0; i < 60; ++i) {
    const double share = (lo + hi) / 2;
    for (std::size_t j = 0; j < p.size(); ++j) mixed[j] = (1 - share) * r[j];
    mixed.back() += share;
    (distance(p, mixed) < needed ? lo : hi) = share;
  }
  for (std::size_t j = 0; j < p.size(); ++j) mixed[j] = (1 - hi) * r[j];
  mixed.back() += hi;
  return mixed;
}

/// The word at `u`, 0 to 1, of `weights` whose sum is `sum`.
std::size_t drawn(std::span<const double> weights, double u, double sum = 1) {
  double at = u * sum;
  std::size_t last = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (!(weights[j] > 0)) continue;
    last = j;
    if (at < weights[j]) return j;
    at -= weights[j];
  }
  return last;
}

/// Draws and checks one round after another.
class Speculator {
 public:
  Speculator(const SpeculativeSetup& setup, const ToyLanguage& language)
      : setup_(setup), language_(language), stream_(random_stream(setup.seed, 2)), rest_(language.words) {
    run_.counts.assign(language.words * language.words, 0);
  }

  SpeculativeRun run() {
    for (std::int64_t i = 0; i < setup_.rounds; ++i) round();
    return std::move(run_);
  }

 private:
  double draw() { return unit_draw(stream_, place_++); }
  std::span<const double> row(const std::vector<double>& table, std::size_t before) const {
    return std::span(table).subspan(before * language_.words, language_.words);
  }
  void write(std::size_t next) {
    ++run_.counts[before_ * language_.words + next];
    ++run_.tokens;
    before_ = next;
  }

  void round() {
    drafted_.clear();
    std::size_t at = before_;
    for (std::int64_t i = 0; i < setup_.length; ++i) drafted_.push_back(at = drawn(row(language_.draft, at), draw()));
    SpeculativeRound r;
    r.start = run_.passes;
    run_.passes += as_double(setup_.length) * setup_.draft_cost + setup_.verify_cost;
    r.end = run_.passes;
    for (const std::size_t guess : drafted_) {
      const double p = language_.target_at(before_, guess), q = language_.draft_at(before_, guess);
      if (draw() * q >= p) {
        r.rejected = true;
        break;
      }
      write(guess);
      ++r.kept;
    }
    run_.drafted += setup_.length;
    run_.kept += r.kept;
    write(r.rejected ? from_rest() : drawn(row(language_.target, before_), draw()));
    run_.rounds.push_back(r);
  }

  /// Where a word was refused: what the target would write more often than the draft.
  std::size_t from_rest() {
    double sum = 0;
    for (std::size_t j = 0; j < language_.words; ++j)
      sum += rest_[j] = std::max(0.0, language_.target_at(before_, j) - language_.draft_at(before_, j));
    return drawn(rest_, draw(), sum);
  }

  const SpeculativeSetup& setup_;
  const ToyLanguage& language_;
  std::uint64_t stream_, place_ = 0;
  std::size_t before_ = 0;
  std::vector<std::size_t> drafted_;
  std::vector<double> rest_;
  SpeculativeRun run_;
};

}  // namespace

double expected_tokens(double a, double length) {
  if (a >= 1) return length + 1;
  return (1 - std::pow(a, length + 1)) / (1 - a);
}

double speculative_speedup(double a, double length, double draft_cost, double verify_cost) {
  return expected_tokens(a, length) / (length * draft_cost + verify_cost);
}

double speculative_operations(double a, double length, double draft_operations) {
  return (length * draft_operations + length + 1) / expected_tokens(a, length);
}

std::int64_t best_draft_length(double a, double draft_cost, const std::function<double(double)>& verify_cost) {
  constexpr std::int64_t most = 64;
  std::int64_t best = 0;
  double fastest = 1;
  for (std::int64_t g = 1; g <= most; ++g) {
    const double length = as_double(g), verify = verify_cost ? verify_cost(length) : 1;
    const double speedup = speculative_speedup(a, length, draft_cost, verify);
    if (speedup > fastest) {
      fastest = speedup;
      best = g;
    }
  }
  return best;
}

double acceptance_for(double tokens, std::int64_t length) {
  double lo = 0, hi = 1;
  for (int i = 0; i < 60; ++i) {
    const double a = (lo + hi) / 2;
    (expected_tokens(a, as_double(length)) < tokens ? lo : hi) = a;
  }
  return (lo + hi) / 2;
}

ToyLanguage toy_language(std::size_t words, double acceptance, std::int64_t seed) {
  ToyLanguage out{.words = words};
  const std::uint64_t stream = random_stream(seed, 1);
  std::vector<double> p(words);
  for (std::size_t before = 0; before < words; ++before) {
    fill_target(p, stream, before);
    const std::vector<double> r = mistake(p, 1 - acceptance);
    const double off = distance(p, r), share = off > 0 ? std::min(1.0, (1 - acceptance) / off) : 0;
    out.target.insert(out.target.end(), p.begin(), p.end());
    for (std::size_t j = 0; j < words; ++j) out.draft.push_back((1 - share) * p[j] + share * r[j]);
  }
  return out;
}

SpeculativeRun run_speculative(const SpeculativeSetup& setup, const ToyLanguage& language) {
  return Speculator(setup, language).run();
}

double ChiSquare::z() const {
  const double k = 2 / (9 * degrees);
  return (std::cbrt(value / degrees) - (1 - k)) / std::sqrt(k);
}

ChiSquare chi_square(const SpeculativeRun& run, const ToyLanguage& language) {
  ChiSquare out;
  for (std::size_t before = 0; before < language.words; ++before) {
    double seen = 0;
    for (std::size_t j = 0; j < language.words; ++j)
      seen += static_cast<double>(run.counts[before * language.words + j]);
    if (seen == 0) continue;
    double kinds = 0;
    for (std::size_t j = 0; j < language.words; ++j) {
      const double expected = seen * language.target_at(before, j),
                   count = static_cast<double>(run.counts[before * language.words + j]);
      if (expected > 0) {
        out.value += (count - expected) * (count - expected) / expected;
        kinds += 1;
      } else if (count > 0) {
        out.value = std::numeric_limits<double>::infinity();
      }
    }
    out.degrees += kinds - 1;
  }
  return out;
}

std::span<const KnownDraft> known_drafts() { return drafts; }

const KnownDraft* find_draft(std::string_view id) {
  const auto at = std::find_if(drafts.begin(), drafts.end(), [&](const KnownDraft& d) { return d.id == id; });
  return at == drafts.end() ? nullptr : &*at;
}

}  // namespace models::inference
