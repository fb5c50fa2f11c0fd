#include <algorithm>

#include "chapters/framework/allocator/lab.h"
#include "models/trace/text/bytes.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;

constexpr std::uint64_t max_snapshot_bytes = 512 * mib;

std::string inflated(std::string packed, std::string& error) {
  if (!packed.starts_with("\x1f\x8b")) return packed;
  const models::trace::Bytes bytes = models::trace::in_memory(std::move(packed));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 20, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) {
    text.append(part, 0, n);
    if (text.size() <= max_snapshot_bytes) continue;
    error = "The snapshot is larger than 512 MiB when it is unpacked; record fewer entries.";
    return {};
  }
  error = inflater.error();
  return text;
}

using SnapshotOrFault = models::Result<std::shared_ptr<const AllocatorSnapshot>>;

SnapshotOrFault open_snapshot(const FileInput& file) {
  if (!file.bytes)
    return SnapshotOrFault::fail("Choose a file: torch.cuda.memory._snapshot() written as JSON, or a list of events.");
  std::string error;
  auto snapshot = file.bytes->made<AllocatorSnapshot>([&]() -> std::shared_ptr<const AllocatorSnapshot> {
    if (file.bytes->size_bytes > max_snapshot_bytes) {
      error = "The snapshot is larger than 512 MiB; record fewer entries.";
      return nullptr;
    }
    std::string text;
    error = file.bytes->read(text);
    if (error.empty()) text = inflated(std::move(text), error);
    if (!error.empty()) return nullptr;
    // A text that is no JSON and no pickle is a list of events.
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && std::string_view("afrs").find(text[first]) != std::string_view::npos) {
      auto list = parse_allocator_events(text);
      error = list.error;
      if (!list) return nullptr;
      AllocatorSnapshot events;
      events.list = std::move(*list);
      events.is_list = true;
      return std::make_shared<const AllocatorSnapshot>(std::move(events));
    }
    auto read = read_allocator_snapshot(text);
    error = read.error;
    return read ? std::make_shared<const AllocatorSnapshot>(std::move(*read)) : nullptr;
  });
  return snapshot ? SnapshotOrFault::ok(snapshot) : SnapshotOrFault::fail(error);
}

/// "at request 412 of 800", "in step 3 of 8", "at event 10 of 10".
std::string place_of(const Inputs& in, const Asked& asked, std::size_t event) {
  const AllocatorProgram& program = asked.program;
  if (!in.listed() && in.source == Source::requests) {
    const auto is_cache = [](const AllocatorEvent& e) { return e.action == AllocatorAction::allocate && e.owner == 5; };
    const auto end = program.list.events.begin() + static_cast<std::ptrdiff_t>(event) + 1;
    const auto n = std::count_if(program.list.events.begin(), end, is_cache);
    return "request " + widgets::format_text(static_cast<double>(n), "") + " of " +
           widgets::format_text(static_cast<double>(100 * in.steps), "");
  }
  if (!in.listed() && (in.source == Source::lengths || in.source == Source::buckets)) {
    const auto n = std::count_if(program.steps.begin(), program.steps.end(),
                                 [&](const AllocatorStep& s) { return s.event <= event; });
    return "step " + std::to_string(n) + " of " + std::to_string(program.steps.size());
  }
  return "event " + widgets::format_text(static_cast<double>(event + 1), "") + " of " +
         widgets::format_text(static_cast<double>(program.list.events.size()), "");
}

Setting setting_of(std::string name, const Inputs& in, const Asked& asked, const AllocatorConfig& config, bool stop) {
  const AllocatorRun run = replay_allocator(
      asked.program.list, config, {.stop_at_failure = stop, .initial = asked.initial, .placement = asked.placement});
  return {
      .name = std::move(name),
      .outcome = run.failure ? "fails at " + place_of(in, asked, run.failure->event) : "serves all",
      .served = !run.failure,
      .events_done = static_cast<std::int64_t>(run.events),
      .peak_reserved_bytes = static_cast<double>(run.peaks.reserved_bytes),
      .peak_allocated_bytes = static_cast<double>(run.peaks.allocated_bytes),
  };
}

void add_settings(const Inputs& in, const Asked& asked, bool stop, Outputs& out) {
  AllocatorConfig plain;
  plain.capacity_bytes = asked.config.capacity_bytes;
  AllocatorConfig rounded = plain, limited = plain, expandable = plain;
  rounded.roundup_power2_divisions.fill(4);
  limited.max_split_size_bytes = 256 * mib;
  expandable.expandable_segments = true;
  if (asked.config != plain && asked.config != rounded && asked.config != limited && asked.config != expandable)
    out.settings.push_back(setting_of("as set", in, asked, asked.config, stop));
  out.settings.push_back(setting_of("defaults", in, asked, plain, stop));
  out.settings.push_back(setting_of("round to 4 parts", in, asked, rounded, stop));
  out.settings.push_back(setting_of("split up to 256 MiB", in, asked, limited, stop));
  // A list of segments at fixed places says nothing of a growing one.
  if (asked.initial.empty()) out.settings.push_back(setting_of("expandable", in, asked, expandable, stop));
}

void fill(Outputs& out) {
  const AllocatorRun& run = out.run;
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
  out.segments = static_cast<std::int64_t>(run.snapshot_segments);
  out.ooms = static_cast<std::int64_t>(f.ooms);
  out.retries = static_cast<std::int64_t>(f.retries);
  out.splits = static_cast<std::int64_t>(f.splits);
  out.device_allocs = static_cast<std::int64_t>(f.device_allocs);
  out.device_frees = static_cast<std::int64_t>(f.device_frees);
  out.events_done = static_cast<std::int64_t>(run.events);
  if (run.failure) {
    out.failed_bytes = real(run.failure->bytes);
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
  out.wasted_share = out.peak_reserved_bytes > 0 ? 100 * (1 - out.peak_allocated_bytes / out.peak_reserved_bytes) : 0;
}

}  // namespace

models::Result<Asked> ask(const Inputs& in) {
  using Out = models::Result<Asked>;
  Asked asked;
  AllocatorConfig& c = asked.config;
  c.capacity_bytes = static_cast<std::uint64_t>(in.capacity_bytes);
  c.fraction = in.fraction;
  c.expandable_segments = in.expandable_segments;
  for (const AllocatorSetting& s :
       {AllocatorSetting{AllocatorSetting::Key::max_split_size, in.max_split_size_bytes},
        AllocatorSetting{AllocatorSetting::Key::max_non_split_rounding, in.max_non_split_rounding_bytes},
        AllocatorSetting{AllocatorSetting::Key::garbage_collection_threshold, in.garbage_collection_threshold},
        AllocatorSetting{AllocatorSetting::Key::roundup_power2_divisions,
                         static_cast<double>(in.roundup_power2_divisions)}})
    if (const models::Status set = apply_setting(s, c); !set) return Out::fail("PyTorch refuses this: " + set.error);
  const bool varies = !in.listed() && (in.source == Source::lengths || in.source == Source::requests);
  if (varies && in.shortest > in.longest)
    return Out::fail("The shortest sequence, " + widgets::format_text(in.shortest, "tokens", 6) +
                     ", is longer than the longest, " + widgets::format_text(in.longest, "tokens", 6) +
                     ": lower the shortest or raise the longest.");
  if (in.listed()) {
    auto list = parse_allocator_events(in.events);
    if (!list) return Out::fail(list.error);
    asked.program.list = std::move(*list);
  } else if (in.source == Source::snapshot) {
    auto snapshot = open_snapshot(in.snapshot);
    if (!snapshot) return Out::fail(snapshot.error);
    const AllocatorSnapshot& s = **snapshot;
    asked.program.list = s.list;
    if (s.is_list) return Out::ok(std::move(asked));
    asked.initial = s.initial;
    asked.initial_owners = s.initial_owners;
    asked.placement = s.placement;
    asked.config = s.config;  // as it was recorded
    asked.snapshot = *snapshot;
  } else {
    asked.program = make_allocator_program({
        .workload = static_cast<AllocatorWorkload>(in.source),
        .layers = in.layers,
        .width = in.width,
        .vocabulary = in.vocabulary,
        .batch = in.sequences,
        .steps = in.steps,
        .shortest = in.shortest,
        .longest = in.longest,
        .order = in.order,
        .empty_cache = in.empty_cache,
        .seed = in.seed,
    });
  }
  return Out::ok(std::move(asked));
}

Outputs compute(const Inputs& in, Progress& progress) {
  auto asked = ask(in);
  if (!asked) return {.reason = asked.error};
  Outputs out;
  // A program that asks for memory in vain ends there; a list of events goes on, as its writer meant it.
  const bool stop = !in.listed() && in.source != Source::snapshot;
  out.events_in_list = static_cast<std::int64_t>(asked->program.list.events.size());
  out.run = replay_allocator(asked->program.list, asked->config,
                             {.stop_at_failure = stop, .initial = asked->initial, .placement = asked->placement});
  fill(out);
  if (out.run.failure) out.failed_at = place_of(in, *asked, out.run.failure->event);
  progress.fraction = 0.4;
  if (asked->snapshot) {
    out.agreement = replay_snapshot(*asked->snapshot);
    if (out.agreement.allocations > 0)
      out.address_share =
          100 * static_cast<double>(out.agreement.address_hits) / static_cast<double>(out.agreement.allocations);
  }
  if (!progress.cancelled) add_settings(in, *asked, stop, out);
  return out;
}

}  // namespace chapters::framework::allocator
