#include "chapters/framework/allocator/asked.h"

#include "models/trace/text/bytes.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;

constexpr std::uint64_t max_snapshot_bytes = 512 * mib;

/// The text of a gz, and any other text as it is.
models::Result<std::string> inflated(std::string packed) {
  using Inflated = models::Result<std::string>;
  if (!packed.starts_with("\x1f\x8b")) return Inflated::ok(std::move(packed));
  const models::trace::Bytes bytes = models::trace::in_memory(std::move(packed));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 20, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) {
    text.append(part, 0, n);
    if (text.size() > max_snapshot_bytes)
      return Inflated::fail("The snapshot is larger than 512 MiB when it is unpacked; record fewer entries.");
  }
  return inflater.status() ? Inflated::ok(std::move(text)) : Inflated::fail(inflater.status().error);
}

using SnapshotOrFault = models::Result<std::shared_ptr<const AllocatorSnapshot>>;

SnapshotOrFault read_snapshot(const FileBytes& bytes) {
  if (bytes.size_bytes > max_snapshot_bytes)
    return SnapshotOrFault::fail("The snapshot is larger than 512 MiB; record fewer entries.");
  std::string packed;
  if (const std::string why = bytes.read(packed); !why.empty()) return SnapshotOrFault::fail(why);
  const auto text = inflated(std::move(packed));
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

}  // namespace chapters::framework::allocator
