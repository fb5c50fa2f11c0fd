#include "chapters/framework/allocator/asked.h"

#include "models/memory/snapshot_json.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;

using SnapshotOrFault = models::Result<std::shared_ptr<const AllocatorSnapshot>>;

SnapshotOrFault read_snapshot(const FileBytes& bytes) {
  models::trace::Bytes source{bytes.size_bytes, bytes.read_at};
  if (std::string held; !source.read) {  // what comes from no file
    if (const models::Status read = bytes.read(held); !read) return SnapshotOrFault::fail(read.error);
    source = models::trace::in_memory(std::move(held));
  }
  const auto text = whole_recording_text(source);
  if (!text) return SnapshotOrFault::fail(text.error);
  // A text that is no JSON and no pickle is a list of events.
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || std::string_view("afrs").find((*text)[first]) == std::string_view::npos) {
    auto read = read_allocator_snapshot(*text);
    if (!read) return SnapshotOrFault::fail(read.error);
    return SnapshotOrFault::ok(std::make_shared<const AllocatorSnapshot>(std::move(*read)));
  }
  auto list = parse_allocator_events(*text);
  if (!list) return SnapshotOrFault::fail(list.error);
  AllocatorSnapshot events;
  events.list = std::move(*list);
  events.is_list = true;
  return SnapshotOrFault::ok(std::make_shared<const AllocatorSnapshot>(std::move(events)));
}

SnapshotOrFault open_snapshot(const FileInput& file) {
  if (!file.bytes)
    return SnapshotOrFault::fail("Choose a file: torch.cuda.memory._snapshot() written as JSON, or a list of events.");
  std::string error;
  auto snapshot = file.bytes->made<AllocatorSnapshot>([&]() -> std::shared_ptr<const AllocatorSnapshot> {
    auto fresh = read_snapshot(*file.bytes);
    error = fresh.error;
    return fresh ? *fresh : nullptr;
  });
  return snapshot ? SnapshotOrFault::ok(snapshot) : SnapshotOrFault::fail(error);
}

}  // namespace

models::Result<Asked> ask(const Inputs& in) {
  using Out = models::Result<Asked>;
  Asked asked;
  AllocatorConfig& c = asked.config;
  c.capacity_bytes = static_cast<std::uint64_t>(in.capacity_bytes);
  c.fraction = in.fraction;
  c.expandable_segments = in.expandable_segments;
  c.large_segment_bytes = static_cast<std::uint64_t>(in.large_segment_bytes);
  for (const AllocatorSetting& s :
       {AllocatorSetting{AllocatorSetting::Key::max_split_size, in.max_split_size_bytes},
        AllocatorSetting{AllocatorSetting::Key::max_non_split_rounding, in.max_non_split_rounding_bytes},
        AllocatorSetting{AllocatorSetting::Key::garbage_collection_threshold, in.garbage_collection_threshold},
        AllocatorSetting{AllocatorSetting::Key::roundup_power2_divisions,
                         static_cast<double>(in.roundup_power2_divisions)}})
    if (const models::Status set = apply_setting(s, c); !set) return Out::fail("PyTorch refuses this: " + set.error);
  const bool varies = in.source == Source::lengths || in.source == Source::requests;
  if (varies && in.shortest > in.longest)
    return Out::fail("The shortest sequence, " + widgets::format_text(in.shortest, "tokens", 6) +
                     ", is longer than the longest, " + widgets::format_text(in.longest, "tokens", 6) +
                     ": lower the shortest or raise the longest.");
  if (in.listed()) {
    if (in.events.empty())
      return Out::fail("The list of events is empty: write one, \"a0 512;f0\" for example, or choose a program.");
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

}  // namespace chapters::framework::allocator
