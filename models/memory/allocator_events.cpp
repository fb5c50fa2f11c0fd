#include "models/memory/allocator_events.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "models/base/printable.h"
#include "models/base/trimmed.h"

namespace models::memory {
namespace {

/// Takes a whole number off the front of `s`; false where there is none, or where it goes on, as in 1e30 and 2.5.
bool take_whole(std::string_view& s, std::uint64_t& out) {
  s = trimmed(s);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  if (error != std::errc() || end == s.data()) return false;
  if (end != s.data() + s.size() && *end != ' ' && *end != '\t' && *end != '\r') return false;
  s.remove_prefix(static_cast<std::size_t>(end - s.data()));
  return true;
}

bool read_setting(std::string_view item, AllocatorSetting& out) {
  struct Name {
    std::string_view text;
    AllocatorSetting::Key key;
    double factor;
  };
  using Key = AllocatorSetting::Key;
  static constexpr std::array<Name, 7> names{
      {{"max_split_size", Key::max_split_size, 1},
       {"max_split_size_mb", Key::max_split_size, static_cast<double>(mib)},
       {"max_non_split_rounding", Key::max_non_split_rounding, 1},
       {"max_non_split_rounding_mb", Key::max_non_split_rounding, static_cast<double>(mib)},
       {"garbage_collection_threshold", Key::garbage_collection_threshold, 1},
       {"expandable_segments", Key::expandable_segments, 1},
       {"roundup_power2_divisions", Key::roundup_power2_divisions, 1}}};
  const std::size_t equals = item.find_first_of("=:");
  if (equals == std::string_view::npos) return false;
  const std::string_view key = trimmed(item.substr(0, equals)), value = trimmed(item.substr(equals + 1));
  const auto name = std::find_if(names.begin(), names.end(), [&](const Name& n) { return n.text == key; });
  if (name == names.end()) return false;
  out.key = name->key;
  if (value == "True" || value == "true" || value == "False" || value == "false") {
    out.value = value.front() == 'T' || value.front() == 't';
    return name->key == Key::expandable_segments;
  }
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out.value);
  out.value *= name->factor;
  return error == std::errc() && end == value.data() + value.size() && std::isfinite(out.value) && out.value >= 0;
}

class EventListParser {
 public:
  Result<AllocatorList> parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(";\n"), text.size());
      const std::string_view item = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (item.empty()) continue;
      if (list_.events.size() == max_allocator_events)
        return fail("The list has more than 200,000 events; give a part of it.");
      const std::string error = item.starts_with("set ") ? read_set(item.substr(4)) : read_event(item);
      if (!error.empty()) return fail("Event " + std::to_string(list_.events.size() + 1) + ", " + error);
    }
    if (list_.events.empty()) return fail("The list is empty; write events such as a0 9437184;a1 512;f0.");
    return Result<AllocatorList>::ok(std::move(list_));
  }

 private:
  static Result<AllocatorList> fail(std::string sentence) { return Result<AllocatorList>::fail(std::move(sentence)); }

  std::string read_set(std::string_view items) {
    std::vector<AllocatorSetting> settings;
    while (!items.empty()) {
      const std::size_t end = std::min(items.find(','), items.size());
      const std::string_view item = trimmed(items.substr(0, end));
      items.remove_prefix(std::min(end + 1, items.size()));
      AllocatorSetting setting;
      if (!read_setting(item, setting))
        return "'set " + printable(item) +
               "', is no setting that is known; write set expandable_segments=1, for example.";
      AllocatorConfig scratch;
      if (const Status s = apply_setting(setting, scratch); !s) return "a setting: " + s.error;
      settings.push_back(setting);
    }
    list_.events.push_back({.action = AllocatorAction::set, .id = static_cast<std::int32_t>(list_.settings.size())});
    list_.settings.push_back(std::move(settings));
    return {};
  }

  std::string read_event(std::string_view item) {
    const std::string quoted = "'" + printable(item) + "', ";
    std::string_view rest = item.substr(1);
    std::uint64_t first = 0, second = 0, third = 0;
    if (item == "e") {
      list_.events.push_back({.action = AllocatorAction::empty_cache});
      return {};
    }
    static constexpr std::string_view letters = "afrs";
    if (letters.find(item.front()) == std::string_view::npos || !take_whole(rest, first))
      return quoted + "is not a<id> <bytes>, f<id>, r<id> <stream>, s<stream>, e or set key=value.";
    if (first >= (1ull << 40)) return quoted + "has a number that is too large for an id or a stream.";
    AllocatorEvent event;
    if (item.front() == 's') {
      event.action = AllocatorAction::stream_done;
      if (first > 1000) return quoted + "names a stream above 1000.";
      event.stream = static_cast<std::int32_t>(first);
    } else {
      event.id = id_of(first);
    }
    auto& live = live_[static_cast<std::size_t>(std::max(event.id, 0))];
    if (item.front() == 'a') {
      if (!take_whole(rest, second)) return quoted + "says no whole number of bytes; write a<id> <bytes> [<stream>].";
      if (second > (1ull << 50)) return quoted + "asks for more than 1 PiB.";
      if (!trimmed(rest).empty() && (!take_whole(rest, third) || third > 1000))
        return quoted + "has a stream that is no number up to 1000.";
      if (live) return quoted + "allocates an id that has not been freed.";
      live = second > 0;
      event.action = AllocatorAction::allocate;
      event.bytes = second;
      event.stream = static_cast<std::int32_t>(third);
    } else if (item.front() == 'r') {
      if (!take_whole(rest, second) || second > 1000)
        return quoted + "says no stream up to 1000; write r<id> <stream>.";
      event.action = AllocatorAction::record_stream;
      event.stream = static_cast<std::int32_t>(second);
    } else if (item.front() == 'f') {
      event.action = AllocatorAction::free;
      live = false;
    }
    if (!trimmed(rest).empty()) return quoted + "goes on after its end.";
    list_.events.push_back(event);
    return {};
  }

  std::int32_t id_of(std::uint64_t name) {
    const auto [at, added] = ids_.try_emplace(name, list_.ids);
    if (added) {
      ++list_.ids;
      live_.resize(static_cast<std::size_t>(list_.ids), false);
    }
    return at->second;
  }

  AllocatorList list_;
  std::unordered_map<std::uint64_t, std::int32_t> ids_;
  std::vector<char> live_ = std::vector<char>(1, 0);
};

}  // namespace

Result<AllocatorList> parse_allocator_events(std::string_view text) { return EventListParser().parse(text); }

Status apply_setting(const AllocatorSetting& setting, AllocatorConfig& config) {
  using Key = AllocatorSetting::Key;
  const double v = setting.value;
  switch (setting.key) {
    case Key::max_split_size:
      if (v != 0 && v <= static_cast<double>(20 * mib)) return Status::fail("max_split_size must be above 20 MiB.");
      config.max_split_size_bytes = static_cast<std::uint64_t>(std::min(v, 0x1p60));
      break;
    case Key::max_non_split_rounding:
      if (v < static_cast<double>(20 * mib)) return Status::fail("max_non_split_rounding must be 20 MiB or more.");
      config.max_non_split_rounding_bytes = static_cast<std::uint64_t>(std::min(v, 0x1p60));
      break;
    case Key::garbage_collection_threshold:
      if (v >= 1) return Status::fail("garbage_collection_threshold must be below 1.");
      config.garbage_collection_threshold = v;
      break;
    case Key::expandable_segments:
      config.expandable_segments = v != 0;
      break;
    case Key::roundup_power2_divisions: {
      if (v > 1024) return Status::fail("roundup_power2_divisions must be at most 1024.");
      const auto d = static_cast<std::uint32_t>(v);
      if (d != 0 && !std::has_single_bit(d)) return Status::fail("roundup_power2_divisions must be a power of two.");
      config.roundup_power2_divisions.fill(d);
      break;
    }
  }
  return Status::ok();
}

// PyTorch v2.6.0, c10/cuda/CUDACachingAllocator.cpp:2043-2075 and CUDAAllocatorConfig.cpp:26-43.
std::uint64_t round_request(std::uint64_t bytes, const AllocatorConfig& config) {
  constexpr std::uint64_t unit = 512;
  if (bytes < unit) return unit;
  const int log2_mib = static_cast<int>(std::bit_width(bytes)) - 21;
  const std::uint64_t d = config.roundup_power2_divisions[static_cast<std::size_t>(std::clamp(log2_mib, 0, 15))];
  if (d > 1 && bytes > unit * d) {
    if (std::has_single_bit(bytes)) return bytes;
    const std::uint64_t step = std::bit_floor(bytes) / d;
    return step == 0 ? std::bit_ceil(bytes) : (bytes + step - 1) / step * step;
  }
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace models::memory
