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
  std::string_view help{};
  When when{};
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
Details details(std::string_view name, const Says& says, const Range& range = {});
}  // namespace detail

void format(Fields& f, std::string_view key, models::Format& slot, const Says& says = {});
/// Of the formats `offered`, by id, where a lab cannot take all.
template <class Slot>
void format(Fields& f, std::string_view key, Slot& slot, const Choices& offered, const Says& says = {}) {
  f.choice(key, slot, offered, detail::label("Format", says), says.help, detail::details("format", says));
}
/// `slot` is an enum in the order of `phases`.
template <class Slot>
void phase(Fields& f, std::string_view key, Slot& slot, const Says& says = {}) {
  f.choice(key, slot, phases(), detail::label("Phase", says), says.help, detail::details("workload.phase", says));
}

/// Sequences that are worked on together.
void batch(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// New tokens of each sequence, in training and prefill.
void sequence(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Tokens in the cache of each sequence, in decode.
void context(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});

/// All chips of a cluster, whatever they do.
void cluster_chips(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Chips that share every layer.
void parallel_tensor(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Stages that the layers are cut into.
void parallel_pipeline(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Replicas that see different data.
void parallel_data(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Chips that share one sequence.
void parallel_context(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Chips that share the experts of a layer.
void parallel_expert(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});
/// Chips among which weights, gradients and optimizer states are split (FSDP, ZeRO).
void parallel_shards(Fields& f, std::string_view key, std::int64_t& slot, const Says& says = {});

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
