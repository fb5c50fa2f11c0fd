#include <algorithm>
#include <cmath>

#include "chapters/inference/state_space/lab.h"
#include "models/base/counter_random.h"
#include "models/base/integer_math.h"

/// Training and asking: what is found again.
namespace chapters::inference::state_space {
namespace {

namespace mi = models::inference;
using mi::RecallMixer;

/// Streams that are asked: fewer of long ones with a large state.
std::int64_t streams_of(const Inputs& in, std::int64_t most) {
  const std::int64_t size = in.pairs * (1 + in.fillers) * in.width;
  return std::clamp<std::int64_t>(most * 400 / std::max<std::int64_t>(1, size), most / 3, most);
}

RecallMixer mixer_of(Keeping keeping) { return static_cast<RecallMixer>(static_cast<int>(keeping) + 1); }
static_assert(static_cast<int>(RecallMixer::gated) == static_cast<int>(Keeping::gated) + 1);
static_assert(static_cast<int>(RecallMixer::delta) == static_cast<int>(Keeping::delta) + 1);

std::shared_ptr<const mi::RecallModel> trained_model(const Inputs& in, RecallMixer mixer, Progress& progress,
                                                     Trained& trained) {
  const RecallKey key{.mixer = mixer,
                      .width = in.width,
                      .pairs = in.pairs,
                      .fillers = in.fillers,
                      .steps = in.steps,
                      .seed = in.seed,
                      .rewritten = in.rewritten};
  return trained.get(key, [&](const RecallKey&) -> std::shared_ptr<const mi::RecallModel> {
    const mi::RecallTask task{.pairs = in.pairs, .fillers = in.fillers, .rewritten = in.rewritten / 100};
    const mi::RecallTraining training{.width = in.width, .steps = in.steps, .batch = 4, .rate = 0.04, .seed = in.seed};
    auto model = std::make_shared<mi::RecallModel>(mi::train_recall(mixer, task, training, &progress.cancelled));
    progress.fraction = std::min(0.9, progress.fraction + 0.2);
    return progress.cancelled ? nullptr : model;
  });
}

mi::RecallTask task_of(const Inputs& in) {
  return {.pairs = in.pairs,
          .needle = std::min(in.needle, in.pairs) - 1,
          .fillers = in.fillers,
          .rewritten = in.rewritten / 100};
}

std::size_t best_value(const float* scores) {
  return static_cast<std::size_t>(std::max_element(scores, scores + value_count) - scores);
}

/// What a question for the needle gets after each token, and what is lost when.
void follow_needle(const mi::RecallModel& attention, const mi::RecallModel& state, Run& run, Outputs& out) {
  const mi::RecallStream& s = run.stream;
  const auto needle = static_cast<std::size_t>(s.needle);
  run.needle_key = s.asked[needle];
  run.needle_value = s.answers[needle];
  run.needle_token = s.places[needle];
  const std::size_t tokens = s.keys.size();
  const auto says = [&](const mi::RecallModel& m, std::int64_t read, std::vector<float>& all) {
    std::vector<float> scores = mi::recall_scores(m, s, {&run.needle_key, 1}, read);
    const float most = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float& x : scores) sum += x = std::exp(x - most);
    for (const float x : scores) all.push_back(x / sum);
  };
  const std::size_t width = static_cast<std::size_t>(state.width);
  run.weights.assign(tokens * tokens, 0.0f);
  double after = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    const auto read = static_cast<std::int64_t>(t + 1);
    says(attention, read, run.attention_says);
    says(state, read, run.state_says);
    const std::vector<float> weights = mi::recall_weights(attention, s, run.needle_key, read);
    std::copy(weights.begin(), weights.end(), run.weights.begin() + static_cast<std::ptrdiff_t>(t * tokens));
    const std::vector<float> cells = mi::recall_state(state, s, read);
    for (std::size_t i = 0; i < width; ++i) {
      float square = 0;
      for (std::size_t v = 0; v < value_count; ++v) square += cells[i * value_count + v] * cells[i * value_count + v];
      run.state_rows.push_back(std::sqrt(square));
    }
    if (read <= run.needle_token + 1) continue;
    if (s.keys[t] < mi::recall_keys) ++after;
    const bool wrong = best_value(&run.state_says[t * value_count]) != static_cast<std::size_t>(run.needle_value);
    if (wrong && std::isnan(out.lost_after)) out.lost_after = after;
  }
  out.needle_found =
      best_value(&run.state_says[(tokens - 1) * value_count]) == static_cast<std::size_t>(run.needle_value);
}

/// Each place in turn as the needle's; in long streams every other one.
void fill_places(const Inputs& in, const mi::RecallModel& attention, const mi::RecallModel& state, std::uint64_t luck,
                 Run& run) {
  mi::RecallTask task = task_of(in);
  const std::int64_t step = in.pairs > 24 ? 2 : 1;
  for (std::int64_t place = 0; place < in.pairs; ++place) {
    const bool asked = place % step == 0;
    task.needle = place;
    run.by_pair.push_back(asked ? mi::recall_needle_share(state, task, streams_of(in, 48), luck) : Outputs::none);
    run.attention_by_pair.push_back(asked ? mi::recall_needle_share(attention, task, streams_of(in, 48), luck)
                                          : Outputs::none);
  }
}

/// Numbers of pairs at which the curves have points.
std::vector<std::int64_t> curve_pairs(std::int64_t most) {
  std::vector<std::int64_t> out;
  for (const std::int64_t n : {1, 2, 4, 8, 12, 16, 24, 32, 40})
    if (n < most) out.push_back(n);
  out.push_back(most);
  return out;
}

bool fill_curves(const Inputs& in, Progress& progress, Trained& trained, const Outputs& out, Run& run) {
  const RecallMixer yours = mixer_of(in.keeping);
  const std::vector<std::int64_t> pairs = curve_pairs(in.pairs);
  for (const std::int64_t n : pairs) run.pair_counts.push_back(models::as_double(n));
  const std::uint64_t luck = models::random_stream(in.seed, 32);
  const auto share_of = [&](const mi::RecallModel& m, std::string name) {
    RecallCurve& curve = run.recall.emplace_back(RecallCurve{std::move(name), {}});
    mi::RecallTask task = task_of(in);
    task.needle = -1;
    for (const std::int64_t n : pairs) {
      task.pairs = n;
      curve.share.push_back(100 * mi::recall_shares(m, task, streams_of(in, 30), luck).all);
    }
  };
  constexpr std::string_view names[]{"attention", "linear attention", "gated state", "delta rule"};
  for (const RecallMixer mixer :
       {yours, RecallMixer::attention, RecallMixer::linear, RecallMixer::gated, RecallMixer::delta}) {
    if (mixer == yours && !run.recall.empty()) continue;
    const auto m = trained_model(in, mixer, progress, trained);
    if (!m) return false;
    share_of(*m, std::string(names[static_cast<std::size_t>(mixer)]));
  }
  const auto attention = trained_model(in, RecallMixer::attention, progress, trained);
  if (!attention) return false;
  for (const mi::Eviction how : {mi::Eviction::window, mi::Eviction::heavy_hitters}) {
    RecallCurve& curve =
        run.recall.emplace_back(RecallCurve{how == mi::Eviction::window ? "window" : "heavy hitters", {}});
    mi::RecallTask task = task_of(in);
    task.needle = -1;
    for (const std::int64_t n : pairs) {
      task.pairs = n;
      curve.share.push_back(
          100 * mi::evicted_shares(*attention, task, how, out.entries, in.sinks, streams_of(in, 15), luck).all);
    }
  }
  // The last points are the facts, which more streams are asked for.
  run.recall[0].share.back() = out.recall;
  run.recall[1].share.back() = out.attention_recall;
  run.recall[run.recall.size() - 2].share.back() = out.window_recall;
  run.recall.back().share.back() = out.heavy_recall;
  return true;
}

}  // namespace

bool compute_recall(const Inputs& in, Progress& progress, Trained& trained, Outputs& out, Run* run) {
  const auto attention = trained_model(in, RecallMixer::attention, progress, trained);
  const auto state = trained_model(in, mixer_of(in.keeping), progress, trained);
  if (!attention || !state) return false;
  const mi::RecallTask task = task_of(in);
  const std::uint64_t luck = models::random_stream(in.seed, 31);
  const mi::RecallShares yours = mi::recall_shares(*state, task, streams_of(in, 96), luck);
  const mi::RecallShares theirs = mi::recall_shares(*attention, task, streams_of(in, 96), luck);
  out.recall = 100 * yours.all;
  out.needle_recall = 100 * yours.needle;
  out.attention_recall = 100 * theirs.all;
  out.attention_needle = 100 * theirs.needle;
  out.stream_tokens = task.tokens();
  out.needle_place = task.needle + 1;
  out.state_kept = mi::recall_state_numbers(in.width);
  out.cache_kept = models::as_double(task.tokens()) * mi::recall_entry_numbers(in.width);
  out.entries =
      in.cache_entries > 0
          ? in.cache_entries
          : std::max<std::int64_t>(1, static_cast<std::int64_t>(out.state_kept / mi::recall_entry_numbers(in.width)));
  const auto evicted = [&](mi::Eviction how) {
    return mi::evicted_shares(*attention, task, how, out.entries, in.sinks, streams_of(in, 48), luck);
  };
  const mi::EvictedShares window = evicted(mi::Eviction::window), heavy = evicted(mi::Eviction::heavy_hitters);
  out.window_recall = 100 * window.all;
  out.window_needle = 100 * window.needle;
  out.heavy_recall = 100 * heavy.all;
  out.heavy_popular = 100 * heavy.popular;
  out.heavy_needle = 100 * heavy.needle;
  if (!state->losses.empty()) {
    out.loss_first = static_cast<double>(state->losses.front());
    out.loss_last = static_cast<double>(state->losses.back());
  }
  if (state->mixer == RecallMixer::gated) {
    double mean = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(mi::recall_keys); ++k)
      mean += static_cast<double>(state->gates[k]) / models::as_double(mi::recall_keys);
    out.half_life = std::log(2.0) / std::max(1e-9, static_cast<double>(state->decay) * mean);
  }
  Run own;
  Run& drawn = run != nullptr ? *run : own;
  drawn.stream = mi::recall_stream(task, luck, static_cast<std::uint64_t>(in.stream - 1));
  follow_needle(*attention, *state, drawn, out);
  if (run == nullptr) return true;
  fill_places(in, *attention, *state, luck, *run);
  return fill_curves(in, progress, trained, out, *run);
}

}  // namespace chapters::inference::state_space
