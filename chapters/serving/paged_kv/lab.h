#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/serving/paged/paged_kv.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// The same memory handed out twice: in runs that are reserved ahead, and in blocks that are taken when needed.
namespace chapters::serving::paged_kv {

/// What one request asks for.
enum class Answers : std::uint8_t { one, sampled, beams };

/// Defaults: OPT-13B's twin Llama 2 13B on an A100 of 40 GB, the pool and lengths of the paper that brought paging.
struct Inputs {
  std::int64_t pool_tokens = 15'728, block_tokens = 16, reserve_tokens = 2048;
  models::ReserveRule reserve_rule = models::ReserveRule::longest;
  models::SlotFit fit = models::SlotFit::first_fit;
  double arrival_rate = 3;
  std::int64_t requests = 300;
  double prompt_tokens = 161, output_tokens = 338, length_variation = 0.95;
  std::int64_t longest_tokens = 2048, seed = 1;
  FileInput trace;
  std::int64_t urgent = 0;
  Answers kind = Answers::one;
  std::int64_t answers = 2;
  double replaced = 20;
  bool share = true;
  models::PoolFull when_full = models::PoolFull::recompute;
  double watermark = 1;
  std::int64_t max_running = 256;
  double link_bytes_per_s = 25e9, host_bytes = 4294967296.0;
  std::string model = "llama-2-13b", chip = "a100_40_sxm", kv_format = "bf16";
  std::int64_t chips = 1;
  models::Format format = models::Format::bf16;
  bool operator==(const Inputs&) const = default;
};

/// What one pool came to; shares of the pool in per cent, on average over the time that is measured.
struct PoolFigures {
  double running = 0, waiting = 0;
  double used = 0, later = 0, never = 0, stranded = 0, spare = 0, empty = 0;
  std::int64_t served = 0, refused = 0, most_running = 0;
};

struct Outputs {
  PoolFigures reserved, paged;
  std::int64_t preemptions = 0, recomputed_tokens = 0, copies = 0;
  double swapped_bytes = 0;
  double unfilled_slots = std::nan(""), unfilled_expected = 0, saved = std::nan("");
  double stuck_s = std::nan("");
  std::int64_t stuck_requests = 0;
  std::int64_t blocks = 0, kept_blocks = 0;
  double token_bytes = 0, block_bytes = 0, pool_bytes = 0, weights_bytes = 0, memory_bytes = 0, left_bytes = 0;
  double shown_s = 0, measured_s = 0;
  double gain = std::nan(""), gain_16 = std::nan("");  ///< requests that run, over those of a pool that reserves
  std::int64_t first_request = 0;
  double paged_first_wait_s = std::nan(""), reserved_first_wait_s = std::nan("");
  std::int64_t asked = 0, failed = 0, cut = 0;
  std::string reason;
};

/// What the same requests come to with blocks of another size.
struct SizeRow {
  std::int64_t block_tokens = 0;
  double used = 0, never = 0, running = 0;
};

struct Run {
  models::PagedDemand demand;
  models::PagedRun reserved, paged;                       ///< with frames of the same moments
  std::vector<std::int64_t> reserve_slots, first_blocks;  ///< by request: slots in a row; blocks of its prompt
  std::vector<SizeRow> sizes;
  std::int64_t shown_us = 0;
  bool cells = false;  ///< blocks are too many to be drawn one by one
};

/// Cells of a pool in which blocks are too many to be drawn one by one.
inline constexpr std::int64_t max_drawn_blocks = 8192, max_cells = 2048;

/// What is drawn of a moment besides its sequences.
struct Moment {
  std::int32_t follow = -1;         ///< request whose tables are shown unless another one is chosen
  std::vector<std::uint8_t> cells;  ///< how full each cell is, 255 is full; none where blocks are drawn
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<Moment> moments;  ///< by frame
  double first_s = 0;           ///< the moment to begin with
  double split_s = -1;          ///< when a block of the request shown first splits; -1: none does
  double before_split_s = -1;
  std::int32_t split_request = -1;  ///< whose block that is
  std::string reserved_words, paged_words, tables_words;
  std::vector<widgets::Curve> used, running, waiting, sizes;
  widgets::Curve sent_back;
  double shown_s = 1, most_running = 1, most_waiting = 1;
  PublishedMarks published;
};

struct View {
  double at_s = -1;           ///< the moment shown; -1: the one that the picture begins with
  std::int64_t followed = 0;  ///< request whose tables are shown, from 1; 0: the picture's own
  widgets::Playback playback;
  std::int64_t dragged = -1;  ///< request in the hand
  double pulled = 0;          ///< how far answers are pulled apart by the hand, in px
  widgets::PlotView strip, running, waiting, sizes;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Both pools at a moment, the tables of one request and who waits.
void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

inline constexpr double no_moment = -1;

}  // namespace chapters::serving::paged_kv
