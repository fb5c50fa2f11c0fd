#include "models/memory/allocator_snapshot.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "models/memory/snapshot_json.h"

namespace models::memory {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// The innermost Python frame; empty where none is recorded.
std::string owner_of(const json& object) {
  const auto frames = object.find("frames");
  if (frames == object.end() || !frames->is_array()) return {};
  for (const json& f : *frames) {
    std::string name = text_of(f, "name");
    if (name.empty() || name.size() > 60) continue;
    for (char& c : name)
      if (c < ' ' || c > '~') c = '?';
    return name;
  }
  return {};
}

/// Memory while the history is undone from its end.
class BackwardMemory {
 public:
  struct Part {
    std::uint64_t bytes = 0;
    bool live = false;
    std::uint32_t owner = 0;
  };
  struct Segment {
    std::uint64_t bytes = 0;
    bool small = false;
    std::int32_t stream = 0;
    std::map<std::uint64_t, Part> parts;
  };
  std::map<std::uint64_t, Segment> segments;

  Segment* around(std::uint64_t address) {
    auto at = segments.upper_bound(address);
    if (at == segments.begin()) return nullptr;
    --at;
    return address < at->first + at->second.bytes ? &at->second : nullptr;
  }

  bool undo_alloc(std::uint64_t address) {
    Segment* s = around(address);
    if (!s) return false;
    auto at = s->parts.find(address);
    if (at == s->parts.end() || !at->second.live) return false;
    at->second.live = false;
    if (const auto next = std::next(at); next != s->parts.end() && !next->second.live) {
      at->second.bytes += next->second.bytes;
      s->parts.erase(next);
    }
    if (at != s->parts.begin() && !std::prev(at)->second.live) {
      std::prev(at)->second.bytes += at->second.bytes;
      s->parts.erase(at);
    }
    return true;
  }

  bool undo_free(std::uint64_t address, std::uint64_t bytes, std::uint32_t owner) {
    Segment* s = around(address);
    if (!s) return false;
    auto at = s->parts.upper_bound(address);
    if (at == s->parts.begin()) return false;
    --at;
    const std::uint64_t begin = at->first, end = begin + at->second.bytes;
    if (at->second.live || address + bytes > end) return false;
    // A free block of the large pool is above 1 MiB, so that a shorter rest was part of the block.
    if (!s->small && end - (address + bytes) <= mib) bytes = end - address;
    s->parts.erase(at);
    if (const auto before = s->parts.lower_bound(begin);
        address > begin && !s->small && address - begin <= mib && before != s->parts.begin())
      std::prev(before)->second.bytes += address - begin;  // for the same reason
    else if (address > begin)
      s->parts[begin] = {address - begin, false, 0};
    s->parts[address] = {bytes, true, owner};
    if (address + bytes < end) s->parts[address + bytes] = {end - address - bytes, false, 0};
    return true;
  }
};

/// Reads on behind a fault with what is there; the first fault is the one that is told.
class SnapshotReader {
 public:
  Result<AllocatorSnapshot> read(const json& file) {
    out_.config.capacity_bytes = 1ull << 50;
    read_settings(file);
    const json& segments = list(file, "segments", "dictionary");
    const json* trace = longest_trace(file);
    const std::uint64_t device = device_of(segments, trace, file);
    for (const json& s : segments)
      if (fault_.empty() && (!s.is_object() || !s.contains("device") || whole(s, "device", "segment") == device))
        read_segment(s);
    std::sort(out_.end.begin(), out_.end.end(),
              [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
    read_trace(trace ? *trace : json::array());
    finish_owners();
    return fault_.empty() ? Result<AllocatorSnapshot>::ok(std::move(out_)) : Result<AllocatorSnapshot>::fail(fault_);
  }

 private:
  void fail(std::string sentence) {
    if (fault_.empty()) fault_ = std::move(sentence);
  }

  /// An empty list where there is none.
  const json& list(const json& object, const char* key, const std::string& where) {
    static const json none = json::array();
    const auto at = object.is_object() ? object.find(key) : object.end();
    if (object.is_object() && at != object.end() && at->is_array()) return *at;
    fail("The snapshot's " + where + " has no list '" + key +
         "': give the dictionary of torch.cuda.memory._snapshot() as JSON.");
    return none;
  }

  std::uint64_t whole(const json& object, const char* key, const std::string& where) {
    const auto at = object.is_object() ? object.find(key) : object.end();
    if (object.is_object() && at != object.end() && at->is_number_integer() && at->get<std::int64_t>() >= 0 &&
        at->get<std::uint64_t>() <= (1ull << 60))
      return at->get<std::uint64_t>();
    fail("The snapshot's " + where + " has no whole number '" + key + "' from 0 on.");
    return 0;
  }

  struct Entry {
    enum Kind { alloc, free, segment_alloc, segment_free } kind{};
    std::uint64_t address = 0, bytes = 0;
    std::int32_t stream = 0;
    std::uint32_t owner = 0;
  };

  const json* longest_trace(const json& file) {
    const auto traces = file.find("device_traces");
    const json* longest = nullptr;
    if (traces == file.end() || !traces->is_array()) return nullptr;
    for (const json& t : *traces)
      if (t.is_array() && !t.empty() && (!longest || t.size() > longest->size())) longest = &t;
    return longest;
  }

  /// The trace's place in the list, or the first segment's device.
  std::uint64_t device_of(const json& segments, const json* trace, const json& file) {
    if (trace) return static_cast<std::uint64_t>(trace - &file["device_traces"][0]);
    return segments.empty() || !segments[0].is_object() || !segments[0].contains("device")
               ? 0
               : whole(segments[0], "device", "segment");
  }

  void read_settings(const json& file) {
    const auto at = file.find("allocator_settings");
    if (at == file.end() || !at->is_object()) return;
    const auto number = [&](const char* key) {
      const auto v = at->find(key);
      return v != at->end() && v->is_number() ? v->get<double>() : 0.0;
    };
    if (const double split = number("max_split_size"); split > 0 && split < 0x1p60)
      out_.config.max_split_size_bytes = static_cast<std::uint64_t>(split);
    if (const auto e = at->find("expandable_segments"); e != at->end() && e->is_boolean())
      out_.config.expandable_segments = e->get<bool>();
    const auto d = at->find("roundup_power2_divisions");
    if (d == at->end() || !d->is_object()) return;
    for (std::size_t i = 0; i < out_.config.roundup_power2_divisions.size(); ++i)
      if (const auto v = d->find(std::to_string(1u << i)); v != d->end() && v->is_number_unsigned())
        out_.config.roundup_power2_divisions[i] =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(v->get<std::uint64_t>(), 1024));
  }

  std::int32_t stream_of(const json& object) {
    const auto at = object.find("stream");
    const std::int64_t name = at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
    return streams_.try_emplace(name, static_cast<std::int32_t>(streams_.size())).first->second;
  }

  std::uint32_t owner(const json& object, std::uint64_t bytes) {
    const std::string name = owner_of(object);
    const auto [at, added] = owners_.try_emplace(name, static_cast<std::uint32_t>(owner_bytes_.size()));
    if (added) owner_bytes_.push_back({name, 0});
    owner_bytes_[at->second].second += bytes;
    return at->second;
  }

  void read_segment(const json& s) {
    SegmentView view{.address = whole(s, "address", "segment"),
                     .bytes = whole(s, "total_size", "segment"),
                     .small = text_of(s, "segment_type") == "small",
                     .stream = stream_of(s),
                     .parts = {}};
    if (const auto e = s.find("is_expandable"); e != s.end() && e->is_boolean() && e->get<bool>())
      view.expandable = true;
    if (const auto p = s.find("segment_pool_id"); p != s.end() && p->is_array())
      for (const json& part : *p) out_.expandable |= part.is_number_integer() && part.get<std::int64_t>() != 0;
    out_.expandable |= view.expandable;
    BackwardMemory::Segment back{.bytes = view.bytes, .small = view.small, .stream = view.stream, .parts = {}};
    std::uint64_t address = view.address;
    for (const json& b : list(s, "blocks", "segment")) {
      const std::uint64_t bytes = whole(b, "size", "block");
      const std::string state = text_of(b, "state");
      const BlockState is = state == "inactive"           ? BlockState::free
                            : state == "active_allocated" ? BlockState::allocated
                                                          : BlockState::pending;
      if (bytes == 0 || bytes > view.address + view.bytes - address)
        return fail("The blocks of a segment of the snapshot do not fill it.");
      view.parts.push_back({.address = address, .bytes = bytes, .state = is});
      back.parts[address] = {bytes, is != BlockState::free, is != BlockState::free ? owner(b, bytes) : 0};
      if (is == BlockState::allocated) out_.allocated_bytes += bytes;
      if (is != BlockState::free) out_.active_bytes += bytes;
      address += bytes;
    }
    if (address != view.address + view.bytes) return fail("The blocks of a segment of the snapshot do not fill it.");
    out_.reserved_bytes += view.bytes;
    memory_.segments[view.address] = std::move(back);
    out_.end.push_back(std::move(view));
  }

  void read_trace(const json& trace) {
    std::vector<Entry> entries;
    for (const json& e : trace) {
      const std::string action = text_of(e, "action");
      Entry entry;
      if (action == "alloc")
        entry.kind = Entry::alloc;
      else if (action == "free_completed")
        entry.kind = Entry::free;
      else if (action == "segment_alloc" || action == "segment_map")
        entry.kind = Entry::segment_alloc;
      else if (action == "segment_free" || action == "segment_unmap")
        entry.kind = Entry::segment_free;
      else {
        out_.recorded_ooms += action == "oom";
        continue;
      }
      out_.expandable |= action == "segment_map" || action == "segment_unmap";
      entry.address = whole(e, "addr", "history");
      entry.bytes = whole(e, "size", "history");
      entry.stream = stream_of(e);
      if (entry.kind == Entry::alloc) entry.owner = owner(e, entry.bytes);
      entries.push_back(entry);
    }
    // A history of expandable segments says too little of what is mapped; the end is shown without it.
    if (out_.expandable) entries.clear();
    if (!fault_.empty()) return;
    undo(entries);
    if (!fault_.empty()) return;
    write_initial();
    write_events(entries);
  }

  void undo(const std::vector<Entry>& entries) {
    std::map<std::uint64_t, std::uint32_t> owners;
    for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
      bool fits = true;
      if (e->kind == Entry::alloc) {
        fits = memory_.undo_alloc(e->address);
      } else if (e->kind == Entry::free) {
        fits = memory_.undo_free(e->address, round_request(e->bytes, out_.config), 0);
      } else if (e->kind == Entry::segment_alloc) {
        const auto at = memory_.segments.find(e->address);
        fits = at != memory_.segments.end() && at->second.parts.size() == 1 && !at->second.parts.begin()->second.live;
        if (fits) memory_.segments.erase(at);
      } else {
        fits = !memory_.around(e->address);
        memory_.segments[e->address] = {
            .bytes = e->bytes, .small = e->bytes == 2 * mib, .stream = e->stream, .parts = {{e->address, {e->bytes}}}};
      }
      if (!fits) return fail("The snapshot's history does not lead to its segments; record both at one time.");
    }
  }

  void write_initial() {
    for (const auto& [address, segment] : memory_.segments) {
      InitialSegment s{.address = address, .small = segment.small, .stream = segment.stream, .parts = {}};
      for (const auto& [at, part] : segment.parts) {
        s.parts.push_back({part.bytes, part.live ? out_.list.ids : -1});
        if (!part.live) continue;
        ids_[at] = out_.list.ids++;
        out_.initial_owners.push_back(part.owner);
      }
      out_.initial.push_back(std::move(s));
    }
  }

  void write_events(const std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      if (e.kind == Entry::alloc) {
        ids_[e.address] = out_.list.ids;
        out_.list.events.push_back({.action = AllocatorAction::allocate,
                                    .id = out_.list.ids++,
                                    .stream = e.stream,
                                    .owner = e.owner,
                                    .bytes = e.bytes});
        out_.recorded_addresses.push_back(e.address);
      } else if (e.kind == Entry::free) {
        out_.list.events.push_back({.action = AllocatorAction::free, .id = ids_[e.address]});
      } else if (e.kind == Entry::segment_alloc) {
        out_.placement.push_back(e.address);
      } else if (i == 0 || entries[i - 1].kind != Entry::segment_free) {
        out_.list.events.push_back({.action = AllocatorAction::empty_cache});
      }
    }
  }

  /// The five owners with most bytes keep their names; the others become "other".
  void finish_owners() {
    std::vector<std::uint32_t> order(owner_bytes_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return owner_bytes_[a].second > owner_bytes_[b].second; });
    std::vector<std::uint32_t> place(owner_bytes_.size(), 0);
    out_.list.owners = {"other"};
    for (const std::uint32_t i : order)
      if (!owner_bytes_[i].first.empty() && out_.list.owners.size() < 6) {
        place[i] = static_cast<std::uint32_t>(out_.list.owners.size());
        out_.list.owners.push_back(owner_bytes_[i].first);
      }
    for (AllocatorEvent& e : out_.list.events)
      if (e.action == AllocatorAction::allocate) e.owner = place[e.owner];
    for (std::uint32_t& o : out_.initial_owners) o = o < place.size() ? place[o] : 0;
  }

  std::string fault_;
  AllocatorSnapshot out_;
  BackwardMemory memory_;
  std::map<std::int64_t, std::int32_t> streams_;
  std::unordered_map<std::uint64_t, std::int32_t> ids_;
  std::map<std::string, std::uint32_t> owners_{{"", 0}};
  std::vector<std::pair<std::string, std::uint64_t>> owner_bytes_{{"", 0}};
};

}  // namespace

Result<AllocatorSnapshot> read_allocator_snapshot(std::string_view text) {
  using Out = Result<AllocatorSnapshot>;
  if (text.starts_with("\x80"))
    return Out::fail(
        "This is a pickle, which may run code when it is read: write it as JSON with json.dump(pickle.load("
        "open(FILE, 'rb')), open('snapshot.json', 'w')).");
  const auto file = parse_snapshot_json(text, max_allocator_events);
  return file ? SnapshotReader().read(*file) : Out::fail(file.error);
}

SnapshotAgreement replay_snapshot(const AllocatorSnapshot& snapshot) {
  SnapshotAgreement out;
  CachingAllocator allocator(snapshot.config, snapshot.list.ids, snapshot.initial, snapshot.placement);
  for (const AllocatorEvent& e : snapshot.list.events) {
    const bool done = do_event(allocator, snapshot.list, e);
    if (e.action != AllocatorAction::allocate) continue;
    out.address_hits += done && allocator.address_of(e.id) == snapshot.recorded_addresses[out.allocations];
    ++out.allocations;
  }
  std::map<std::uint64_t, SegmentView::Part> replayed;
  for (const SegmentView& s : allocator.snapshot())
    for (const auto& p : s.parts) replayed[p.address] = p;
  for (const SegmentView& s : snapshot.end)
    for (const auto& p : s.parts) {
      ++out.blocks;
      const auto at = replayed.find(p.address);
      out.equal_blocks += at != replayed.end() && at->second.bytes == p.bytes &&
                          (at->second.state == BlockState::free) == (p.state == BlockState::free);
    }
  out.recorded_reserved_bytes = snapshot.reserved_bytes;
  out.replayed_reserved_bytes = allocator.figures().reserved_bytes();
  return out;
}

}  // namespace models::memory
