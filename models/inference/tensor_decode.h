#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/inference/phases.h"
#include "models/machine/all_reduce_time.h"
#include "models/machine/hardware.h"
#include "models/transformer/transformer.h"

/// One step of decode on chips that share every layer: what each still reads, what they say to one another, and what
/// engines were seen to take beyond both.
namespace models::inference {

struct DecodeGroup {
  const Chip* chip = nullptr;
  Machine machine;       ///< one chip's peak and bandwidth
  AllReduceLinks links;  ///< between the chips of a group
  std::int64_t chips_per_node = 8;
  double weight_bytes_each = 2, kv_bytes_each = 2;
  std::int64_t batch = 1, context = 2048;
  bool whole_head = false;    ///< every chip reads the whole output matrix, as gpt-fast does; else its rows of it
  double memory_share = 0.9;  ///< the share of each chip that weights and caches may take
};

/// The step on so many chips. Bytes are one chip's.
struct DecodeSlab {
  std::int64_t chips = 1;
  double weights_bytes = 0, cache_bytes = 0;  ///< read in a step; of caches with the copies that it holds
  double held_bytes = 0;                      ///< weights with the input embedding, and caches
  double copies = 1;                          ///< chips that hold the same key and value head
  double weights_s = 0, cache_s = 0;          ///< reading them
  double arithmetic_s = 0;                    ///< matmuls at peak; counts where it is longer than reading
  double latency_s = 0, wire_s = 0;           ///< two all-reduces a layer: what they take without bytes, and for bytes
  double step_s = 0;                          ///< max(reading, arithmetic) + talk
  bool fits = false;
  double talk_s() const { return latency_s + wire_s; }
  double read_s() const { return weights_s + cache_s; }
};

/// One sentence where the model cannot be cut over so many chips: query heads must divide; key and value heads must
/// divide the chips or be divided by them. Nothing otherwise.
std::string decode_cut_problem(const Architecture& architecture, std::int64_t chips);

/// The step on `chips`, which must be cuttable. Every collective is Megatron's: after attention and after feed-forward,
/// one all-reduce of [batch, hidden] in two bytes each.
DecodeSlab decode_slab(const Architecture& architecture, const DecodeGroup& group, std::int64_t chips);

/// Counts of chips, powers of two up to `most`, that the model can be cut over.
std::vector<std::int64_t> decode_cuts(const Architecture& architecture, std::int64_t most);

/// The same chips one behind the other: each reads its layers in turn, so that a token takes as long as on one chip,
/// and `chips` batches are under way at once.
double decode_pipeline_s(const Architecture& architecture, const DecodeGroup& group, std::int64_t chips);

/// What engines were seen to take for a token under load: start + bound_share x reading + what each request costs: a
/// part that is divided among the chips, and a part that grows with them.
struct LoadedFit {
  std::string_view chip, format, engine, model;
  double start_s = 0;            ///< whatever the batch
  double bound_share = 1;        ///< times the least that reading takes
  double divided_request_s = 0;  ///< a request, over the chips
  double joint_request_s = 0;    ///< a request, times the chips
  int runs = 0;                  ///< published runs behind it: every second sets the constants, the others judge
  double median_error = 0, worst_error = 0;  ///< relative, of the runs that judge
  double reading_s(double read_s) const { return bound_share * read_s; }
  double requests_s(double batch, double chips) const {
    return batch * (divided_request_s / chips + joint_request_s * chips);
  }
  double seconds(double read_s, double batch, double chips) const {
    return start_s + reading_s(read_s) + requests_s(batch, chips);
  }
};
std::span<const LoadedFit> loaded_fits();
/// The fit for a chip, a format ("bf16", "fp8", "fp4") and a model id; null where none exists.
const LoadedFit* find_loaded_fit(std::string_view chip, std::string_view format, std::string_view model);

}  // namespace models::inference
