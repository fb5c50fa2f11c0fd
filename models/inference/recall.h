#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

/// Associative recall: pairs of a key and a value stream by, then keys are asked for their values. Four ways to keep
/// the pairs are trained on it: attention keeps every pair, the others a state of fixed size.
///
/// The task is multi-query associative recall (Arora et al., Zoology, 2023) with key and value in one token, which is
/// what a short convolution gives a real layer. Trained, by Adam on the cross-entropy of the answers: the vector under
/// which each key is written, the one with which it is asked, the scale of the answers, and of each way its own
/// numbers (sharpness and recency of attention, step and decay of the gate, write strength of the delta rule). Not
/// trained: values are one-hot, and the answer is read from the state without a further layer.
namespace models::inference {

/// How pairs are kept. With key k, value v, question q and state S (key width x values):
/// attention: every pair; the answer is softmax(b q.k - m age) over them (Vaswani 2017; the slope m as in ALiBi).
/// linear: S += k v^T, answer S^T q (Katharopoulos 2020, without a feature map).
/// gated: S = exp(-A d) S + d k v^T with a step d of each token (Mamba-2, Dao and Gu 2024).
/// delta: S += w k (v - S^T k)^T, |k| = 1: what stood under k is taken out first (DeltaNet, Schlag 2021, Yang 2024).
enum class RecallMixer : std::uint8_t { attention, linear, gated, delta };
inline constexpr std::size_t recall_mixer_count = 4;

inline constexpr std::int64_t recall_keys = 64, recall_values = 16, recall_filler_tokens = 8;

struct RecallTask {
  std::int64_t pairs = 16;   ///< written in a stream, rewrites counted
  std::int64_t needle = -1;  ///< pair, counted from 0, whose key is never rewritten; -1: any may be
  std::int64_t fillers = 0;  ///< tokens that nobody asks for, to each pair
  double rewritten = 0;      ///< share of the pairs that give a key that stands already a new value
  std::int64_t tokens() const { return pairs * (1 + fillers); }
};

/// One stream. `keys` from `recall_keys` on are fillers.
struct RecallStream {
  std::vector<std::int32_t> keys, values;
  std::vector<std::int32_t> asked;    ///< keys, each once, in the order of their last writing
  std::vector<std::int32_t> answers;  ///< the last value of each
  std::vector<std::int32_t> places;   ///< token of the last writing of each
  std::vector<std::int32_t> pairs;    ///< the same, counted in pairs
  std::int64_t needle = -1;           ///< index among the asked of the task's needle
};
RecallStream recall_stream(const RecallTask& task, std::uint64_t random, std::uint64_t index);

struct RecallTraining {
  std::int64_t width = 16;  ///< a key's: the state has `width` x `recall_values` numbers
  std::int64_t steps = 120, batch = 8;
  double rate = 0.03;
  std::int64_t seed = 1;
};

/// What is trained. Rows of `written` are keys, then fillers; of `asked` keys; `stride` numbers to a row.
struct RecallModel {
  RecallMixer mixer = RecallMixer::linear;
  std::int64_t width = 16, stride = 16;
  std::vector<float> written, asked;
  std::vector<float> gates;  ///< by token: step of the gate, write strength of the delta rule
  float scale = 1, slope = 0, decay = 0;
  std::vector<float> losses;  ///< by step, nats
};

/// Stops early, with what is trained by then, where `stop` answers true.
RecallModel train_recall(RecallMixer mixer, const RecallTask& task, const RecallTraining& training,
                         const std::atomic<bool>* stop = nullptr);

/// Scores of all values for each asked key after the first `read` tokens, `recall_values` to a key.
std::vector<float> recall_scores(const RecallModel& model, const RecallStream& stream,
                                 std::span<const std::int32_t> asked, std::int64_t read);
/// What attention reads with: a weight of each of the first `read` tokens.
std::vector<float> recall_weights(const RecallModel& model, const RecallStream& stream, std::int32_t asked,
                                  std::int64_t read);
/// The state after the first `read` tokens, `width` x `recall_values`, row by row; of attention empty.
std::vector<float> recall_state(const RecallModel& model, const RecallStream& stream, std::int64_t read);

/// Share of asked keys that are answered right over `streams` streams, and of the task's needle.
struct RecallShares {
  double all = 0, needle = 0;
};
RecallShares recall_shares(const RecallModel& model, const RecallTask& task, std::int64_t streams,
                           std::uint64_t random);

/// The needle's alone, which asks for nothing else.
double recall_needle_share(const RecallModel& model, const RecallTask& task, std::int64_t streams,
                           std::uint64_t random);

/// A cache of attention that holds at most `entries` tokens. window: the first `sinks` and the newest (StreamingLLM,
/// Xiao 2023). heavy_hitters: the newest half, and of the others those that were attended to most so far (H2O, Zhang
/// 2023). After each token one key that stands is asked: of all keys, in an order drawn at random, the r-th is asked
/// with a weight of 1 / r.
enum class Eviction : std::uint8_t { window, heavy_hitters };
struct EvictedShares {
  double all = 0;      ///< asked at the end, every key alike
  double popular = 0;  ///< asked as often as before
  double needle = 0;
};
EvictedShares evicted_shares(const RecallModel& attention, const RecallTask& task, Eviction eviction,
                             std::int64_t entries, std::int64_t sinks, std::int64_t streams, std::uint64_t random);

/// Numbers that attention keeps of one token, a key and a value; and those of a state.
constexpr double recall_entry_numbers(std::int64_t width) { return static_cast<double>(width + recall_values); }
constexpr double recall_state_numbers(std::int64_t width) { return static_cast<double>(width * recall_values); }

}  // namespace models::inference
