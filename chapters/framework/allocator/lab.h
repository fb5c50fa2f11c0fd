#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/memory/allocator_snapshot.h"
#include "models/memory/allocator_workload.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/plot_view.h"

/// The caching allocator replayed on a strip of memory.
namespace chapters::framework::allocator {

/// What asks for memory: the programs in the order of models::memory::AllocatorWorkload, then a recording and a list.
enum class Source : std::uint8_t { lengths, requests, growing, pins, buckets, snapshot, list };

/// Defaults: a hundred requests at once of Llama 3 8B on 80 GiB, each with a contiguous cache of its own length.
struct Inputs {
  Source source = Source::requests;
  std::int64_t sequences = 100, steps = 8;
  double shortest = 1024, longest = 8192;
  models::memory::LengthOrder order = models::memory::LengthOrder::drawn;
  bool empty_cache = false;
  std::int64_t layers = 32, width = 4096, vocabulary = 128256, seed = 1;
  std::string events;  ///< what the source list replays
  FileInput snapshot;
  double capacity_bytes = 80.0 * models::memory::gib, fraction = 1;
  bool expandable_segments = false;
  double large_segment_bytes = 20.0 * models::memory::mib;
  double max_split_size_bytes = 0, max_non_split_rounding_bytes = 20.0 * models::memory::mib;
  double garbage_collection_threshold = 0;
  std::int64_t roundup_power2_divisions = 0;
  bool operator==(const Inputs&) const = default;
  bool listed() const { return source == Source::list; }
};

/// The same list under other settings.
struct Setting {
  std::string name, outcome;  ///< outcome: how far it came
  bool served = true;         ///< nothing failed
  std::int64_t events_done = 0;
  double peak_reserved_bytes = 0, peak_allocated_bytes = 0, wasted_share = 0;  ///< share: %, reserved above need
};

struct Outputs {
  std::int64_t events_in_list = 0, events_done = 0;
  // What failed and what lay free then. NaN: nothing failed.
  double failed_bytes = std::nan(""), unreserved_bytes = std::nan(""), hole_bytes = 0, largest_hole_bytes = 0,
         emptiable_bytes = 0;
  double free_bytes = 0;  ///< reserved and free, or not reserved
  double holes_over_request = std::nan("");
  std::int64_t holes = 0;
  std::string failed_at;  ///< "request 412 of 800"; empty: nothing failed
  double allocated_bytes = 0, requested_bytes = 0, active_bytes = 0, reserved_bytes = 0, largest_free_bytes = 0,
         inactive_split_bytes = 0, peak_allocated_bytes = 0, peak_reserved_bytes = 0, wasted_share = 0,
         address_share = std::nan(""), block_share = std::nan("");
  std::int64_t recorded_allocations = 0, address_hits = 0;  ///< 0 where there is no recording
  std::int64_t segments = 0, snapshot_segments = 0, ooms = 0, retries = 0, splits = 0, device_allocs = 0,
               device_frees = 0;
  std::vector<Setting> settings;  ///< what is set first, where that is none of the others
  std::string reason;
};

/// A block while it lies in one place: events from `first` up to `last`, without it.
struct BlockSpan {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t first = 0, last = 0, pending = 0;  ///< pending: from this event on other streams alone may read it
  std::uint32_t owner = 0;
};
/// A range of addresses while it is reserved.
struct RangeSpan {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t first = 0, last = 0;
  bool small = false, expandable = false;
};

/// Everything that ever lay anywhere, and what was reserved and in use meanwhile.
struct Run {
  std::vector<BlockSpan> blocks;  ///< by address
  std::vector<RangeSpan> ranges;  ///< by address
  std::vector<std::string> owners;
  std::vector<double> at, reserved, allocated;  ///< after each event, thinned to what a plot can show
  std::int64_t fullest_event = 0;               ///< events done when most was reserved
  std::int64_t failed_event = -1;               ///< events done when the first request failed; -1: none did
  double device_bytes = 1;
  std::uint64_t page_bytes = 1;  ///< what a large expandable segment grows by
};

/// A colour as the training step's memory has it: pale where the owner belongs to another of the same hue.
struct OwnerTint {
  widgets::Tint tint{};
  bool pale = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  std::vector<OwnerTint> tints;  ///< by owner
  std::uint32_t events = 0;
  std::int64_t failed_event = -1;
  std::int64_t opening = 0;   ///< events done where the strip opens: the failure, the peak of a program, else the end
  double capacity_bytes = 1;  ///< what the strip spans
  double device_bytes = 1, failed_bytes = 0;
  std::vector<double> asked;  ///< bytes of a written list's first requests: they are given; empty for other programs
  PublishedMarks published;
};

/// A piece of the strip at the cursor, in bytes from its beginning.
struct StripPiece {
  std::uint64_t from = 0, bytes = 0;
  std::uint32_t owner = 0;
  enum Kind : std::uint8_t { block, pending, hole, whole } kind{};  ///< whole: a segment that is one free block
  std::uint64_t emptiable = 0;                                      ///< the part of it that empty_cache returns
  std::uint64_t emptiable_from = 0;                                 ///< where that begins
};

/// What the cursor shows; kept until cursor or picture change.
struct StripState {
  std::vector<StripPiece> pieces;
  std::vector<std::uint64_t> segments;  ///< where a segment begins
  std::vector<std::uint64_t> holes;    ///< free bytes that empty_cache cannot return, block by block, the largest first
  std::vector<std::uint64_t> returns;  ///< free bytes that it returns, the largest first
  /// `hole_bytes`: all that is reserved and free; `emptiable`: the part of that which empty_cache returns.
  std::uint64_t reserved = 0, in_use = 0, hole_bytes = 0, emptiable = 0, largest = 0, largest_from = 0;
  std::uint64_t version = 0;
  std::int64_t cursor = -1;
};

struct View {
  double cursor = 1e9;  ///< events done; more than there are: where the strip opens
  widgets::Playback playback{.time_s = 1e9};
  StripState strip;
  widgets::PlotView history;
  DescribedTable<Setting> settings;
};

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// What lies where when `cursor` events are done. Pure.
void lay_strip(const Picture& picture, std::int64_t cursor, StripState& out);
/// While a question is open: what a written list asks for, and the empty device.
void draw_given_memory(const Inputs& in, const Picture& picture, ImVec2 size);
/// The strip in rows, and under it the request beside the holes, in `size` px from the cursor.
void draw_strip(const Picture& picture, const StripState& strip, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, Setting& setting);
void describe(Fields& f, View& view);

}  // namespace chapters::framework::allocator
