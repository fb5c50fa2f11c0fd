#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/machine/hardware.h"

/// The choices that follow the learner from lab to lab. Each has one name, one meaning, one unit and one range, and is
/// declared here and nowhere else (a test of the house says so); a lab calls the function and may say in its own words
/// what the choice does there. What a lab cannot take is refused with a sentence, never dropped in silence.
namespace chapters::shared {

/// What a lab adds in its own words.
struct Says {
  std::string_view label{};  ///< empty: the choice's own label
  std::string_view help{};   ///< empty: the choice's own sentence
  When when{};
  bool headline = false;
};

/// Every format of the hardware catalog.
const Choices& all_formats();
/// Training step, prefill, decode, in the order of models::Phase.
const Choices& phases();

void model(Fields& f, std::string_view key, std::string& id, const Says& says = {});
void chip(Fields& f, std::string_view key, std::string& id, const Says& says = {});
void network(Fields& f, std::string_view key, std::string& id, const Says& says = {});

namespace detail {
/// The choice's own label, or the lab's.
Label label(Label own, const Says& says);
/// The choice's own sentence, or the lab's.
std::string_view help(std::string_view own, const Says& says);
Details details(std::string_view name, const Says& says, const Range& range = {});
}  // namespace detail

void format(Fields& f, std::string_view key, models::Format& slot, const Says& says = {});
/// The same with the formats `offered`, by id, where a lab cannot take all.
template <class Slot>
void format(Fields& f, std::string_view key, Slot& slot, const Choices& offered, const Says& says = {}) {
  f.choice(key, slot, offered, detail::label("Format", says),
           detail::help("The number format that the work is done in.", says), detail::details("format", says));
}
/// `slot` is an enum in the order of `phases`.
template <class Slot>
void phase(Fields& f, std::string_view key, Slot& slot, const Says& says = {}) {
  f.choice(key, slot, phases(), detail::label("Phase", says),
           detail::help("Which part of a model's life is computed.", says), detail::details("workload.phase", says));
}

/// A whole number from 1 on, on a logarithmic scale. Called like a function: `micro_batch(f, "batch", in.batch, says)`.
struct Count {
  std::string_view name, label, unit;
  double hi = 1;
  std::string_view help{};
  void operator()(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {}) const;
};
inline constexpr double max_tokens = 1 << 20;
/// Requests or sequences that a chip works on at once, in inference.
inline constexpr Count concurrent_sequences{"workload.concurrent", "Batch", "", 65536,
                                            "How many sequences are worked on together."};
/// Sequences that go through the model together on one replica, in training.
inline constexpr Count micro_batch{"workload.micro_batch", "Batch", "", 65536,
                                   "How many sequences go through the model together on one replica."};
/// Sequences of one optimizer step, over all replicas.
inline constexpr Count global_batch{"workload.global_batch", "Global batch", "", 65536,
                                    "How many sequences one optimizer step has, over all GPUs."};
/// New tokens of each sequence, in training and prefill.
inline constexpr Count sequence{"workload.sequence", "Sequence", "tokens", max_tokens,
                                "How many new tokens each sequence has, in training and prefill."};
/// Tokens in the cache of each sequence, in decode.
inline constexpr Count context{"workload.context", "Context", "tokens", max_tokens,
                               "How many tokens the cache of each sequence holds, in decode."};
/// All chips of a cluster, whatever they do.
inline constexpr Count cluster_chips{"cluster.chips", "Chips in the cluster", "", 1e6,
                                     "How many chips the cluster has, whatever they do."};
/// Chips that share every layer, up to those that a rack of NVL72 joins.
inline constexpr Count parallel_tensor{"parallel.tensor", "Tensor parallel", "", 72,
                                       "How many chips share every layer."};
/// Stages that the layers are cut into.
inline constexpr Count parallel_pipeline{"parallel.pipeline", "Pipeline stages", "", 1024,
                                         "How many stages the layers are cut into."};
/// Replicas that see different data.
inline constexpr Count parallel_data{"parallel.data", "Data parallel", "", 65536,
                                     "How many replicas see different data."};
/// Chips that share one sequence.
inline constexpr Count parallel_context{"parallel.context", "Context parallel", "", 1024,
                                        "How many chips share one sequence."};
/// Chips that share the experts of a layer.
inline constexpr Count parallel_expert{"parallel.expert", "Expert parallel", "", 1024,
                                       "How many chips share the experts of a layer."};
/// Chips among which weights, gradients and optimizer states are split (FSDP, ZeRO).
inline constexpr Count parallel_shards{"parallel.shards", "States split over", "", 16384,
                                       "How many chips weights, gradients and optimizer states are split over."};

/// A real number on a logarithmic scale; `typical` is what the lab's slider is for. Called like a function.
struct Amount {
  std::string_view name, label, unit;
  double lo = 0, hi = 1;
  std::string_view help{};
  void operator()(Fields& f, std::string_view key, double& slot, Span typical = {}, const Says& says = {}) const;
};
/// Requests that come to a service, over all of its replicas.
inline constexpr Amount arrival_rate{
    "load.arrival_rate", "Arrivals per second", "", 0.01, 1e5, "How many requests come per second, on average."};
/// Tokens of a prompt, on average over the requests of a service.
inline constexpr Amount prompt_tokens{
    "load.prompt_tokens", "Prompt, mean", "tokens", 1, 131072, "How many tokens a prompt has on average."};
/// Tokens of an answer, on average over the requests of a service.
inline constexpr Amount output_tokens{
    "load.output_tokens", "Output, mean", "tokens", 1, 32768, "How many tokens an answer has on average."};
/// What a service promises: the time to the first token, and for each further one.
inline constexpr Amount ttft_limit{
    "limits.ttft", "First token within", "s", 1e-3, 1e3, "By when a request must have its first token."};
inline constexpr Amount tpot_limit{"limits.tpot",
                                   "Further tokens within",
                                   "s",
                                   1e-3,
                                   10,
                                   "By when each further token must come, on average over an answer."};

/// The time of day in seconds since 1970, which the app sets when a lab is opened.
void clock(Fields& f, std::string_view key, double& now_s);
/// What the learner did, saved across sessions under `store`; at most `max_rows` rows.
template <class Row>
void history(Fields& f, std::string_view key, std::vector<Row>& rows, std::string_view store, std::size_t max_rows,
             const Says& says) {
  f.table(key, rows, says.label, says.help,
          {
              .shared = store,
              .when = says.when,
              .max_items = max_rows,
              .origin = Origin::kept,
          });
}

}  // namespace chapters::shared
