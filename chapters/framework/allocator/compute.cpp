#include <algorithm>

#include "chapters/framework/allocator/history.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;

/// "request 412 of 800", "step 3 of 8", "event 10 of 10".
std::string place_of(const Inputs& in, const Asked& asked, std::size_t event) {
  const AllocatorProgram& program = asked.program;
  if (in.source == Source::requests) {
    const auto is_cache = [](const AllocatorEvent& e) { return e.action == AllocatorAction::allocate && e.owner == 5; };
    const auto end = program.list.events.begin() + static_cast<std::ptrdiff_t>(event) + 1;
    const auto n = std::count_if(program.list.events.begin(), end, is_cache);
    if (n == 0) return "a weight before the first request";
    return "request " + widgets::format_text(static_cast<double>(n), "") + " of " +
           widgets::format_text(static_cast<double>(100 * in.steps), "");
  }
  if (in.source == Source::lengths || in.source == Source::buckets) {
    const auto n = std::count_if(program.steps.begin(), program.steps.end(),
                                 [&](const AllocatorStep& s) { return s.event <= event; });
    return "step " + std::to_string(n) + " of " + std::to_string(program.steps.size());
  }
  return "event " + widgets::format_text(static_cast<double>(event + 1), "") + " of " +
         widgets::format_text(static_cast<double>(program.list.events.size()), "");
}

/// What is reserved above need, %, of the peak.
double wasted(const AllocatorPeaks& peaks) {
  const auto reserved = static_cast<double>(peaks.reserved_bytes), used = static_cast<double>(peaks.allocated_bytes);
  return reserved > 0 ? 100 * (1 - used / reserved) : 0;
}

Setting setting_of(std::string name, const Inputs& in, const Asked& asked, const AllocatorRun& run) {
  return {
      .name = std::move(name),
      .outcome = run.failure ? "fails at " + place_of(in, asked, run.failure->event) : "serves all",
      .served = !run.failure,
      .events_done = static_cast<std::int64_t>(run.events),
      .peak_reserved_bytes = static_cast<double>(run.peaks.reserved_bytes),
      .peak_allocated_bytes = static_cast<double>(run.peaks.allocated_bytes),
      .wasted_share = wasted(run.peaks),
  };
}

/// `run` is the list under the settings that are set.
void add_settings(const Inputs& in, const Asked& asked, bool stop, const AllocatorRun& run, Outputs& out) {
  AllocatorConfig plain;
  plain.capacity_bytes = asked.config.capacity_bytes;
  AllocatorConfig rounded = plain, limited = plain, expandable = plain;
  rounded.roundup_power2_divisions.fill(4);
  limited.max_split_size_bytes = 256 * mib;
  expandable.expandable_segments = true;
  const auto add = [&](const char* name, const AllocatorConfig& config) {
    out.settings.push_back(setting_of(
        name, in, asked,
        config == asked.config
            ? run
            : replay_allocator(asked.program.list, config,
                               {.stop_at_failure = stop, .initial = asked.initial, .placement = asked.placement})));
  };
  if (asked.config != plain && asked.config != rounded && asked.config != limited && asked.config != expandable)
    add("as set", asked.config);
  add("defaults", plain);
  add("round to 4 parts", rounded);
  add("split up to 256 MiB", limited);
  // A list of segments at fixed places says nothing of a growing one.
  if (asked.initial.empty()) add("expandable", expandable);
}

void fill(const AllocatorRun& run, Outputs& out) {
  const AllocatorFigures& f = run.figures;
  const auto real = [](std::uint64_t v) { return static_cast<double>(v); };
  out.allocated_bytes = real(f.allocated_bytes);
  out.requested_bytes = real(f.requested_bytes);
  out.active_bytes = real(f.active_bytes);
  out.reserved_bytes = real(f.reserved_bytes());
  out.largest_free_bytes = real(run.largest_free_bytes);
  out.inactive_split_bytes = real(f.inactive_split_bytes);
  out.peak_allocated_bytes = real(run.peaks.allocated_bytes);
  out.peak_reserved_bytes = real(run.peaks.reserved_bytes);
  out.segments = static_cast<std::int64_t>(f.segments);
  out.snapshot_segments = static_cast<std::int64_t>(run.snapshot_segments);
  out.ooms = static_cast<std::int64_t>(f.ooms);
  out.retries = static_cast<std::int64_t>(f.retries);
  out.splits = static_cast<std::int64_t>(f.splits);
  out.device_allocs = static_cast<std::int64_t>(f.device_allocs);
  out.device_frees = static_cast<std::int64_t>(f.device_frees);
  out.events_done = static_cast<std::int64_t>(run.events);
  if (run.failure) {
    out.failed_bytes = real(run.failure->bytes);
    out.unreserved_bytes = real(run.failure->device_free_bytes);
    out.hole_bytes = real(run.failure->free_bytes);
    out.largest_hole_bytes = real(run.failure->largest_free_bytes);
    out.emptiable_bytes = real(run.failure->emptiable_bytes);
    out.holes = static_cast<std::int64_t>(run.failure->holes);
    out.holes_over_request = out.hole_bytes / out.failed_bytes;
  } else {
    out.hole_bytes = real(f.free_bytes());
    out.largest_hole_bytes = real(run.largest_free_bytes);
    out.emptiable_bytes = real(run.emptiable_bytes);
    out.holes = static_cast<std::int64_t>(run.holes);
  }
  out.free_bytes = out.hole_bytes + (run.failure ? out.unreserved_bytes : 0);
  out.wasted_share = wasted(run.peaks);
}

/// How far the replay of a recording is what was recorded.
void fill_agreement(const AllocatorSnapshot& snapshot, Outputs& out) {
  const SnapshotAgreement agreement = replay_snapshot(snapshot);
  const auto percent = [](std::uint64_t part, std::uint64_t all) {
    return all > 0 ? 100 * static_cast<double>(part) / static_cast<double>(all) : std::nan("");
  };
  out.recorded_allocations = static_cast<std::int64_t>(agreement.allocations);
  out.address_hits = static_cast<std::int64_t>(agreement.address_hits);
  out.address_share = percent(agreement.address_hits, agreement.allocations);
  out.block_share = percent(agreement.equal_blocks, agreement.blocks);
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress) {
  const auto asked = ask(in);
  if (!asked) return {.facts = {.reason = asked.error}};
  Outputs out;
  const auto run = std::make_shared<Run>();
  // A program that asks for memory in vain ends there; a list of events goes on, as its writer meant it.
  const bool stop = !in.listed() && in.source != Source::snapshot;
  out.events_in_list = static_cast<std::int64_t>(asked->program.list.events.size());
  const AllocatorRun done =
      progress.facts_alone
          ? replay_allocator(asked->program.list, asked->config,
                             {.stop_at_failure = stop, .initial = asked->initial, .placement = asked->placement})
          : replay_with_history(*asked, stop, *run);
  fill(done, out);
  if (done.failure) out.failed_at = place_of(in, *asked, done.failure->event);
  progress.fraction = 0.4;
  if (asked->snapshot) fill_agreement(*asked->snapshot, out);
  if (!progress.cancelled) add_settings(in, *asked, stop, done, out);
  return {.facts = std::move(out), .run = run};
}

}  // namespace chapters::framework::allocator
