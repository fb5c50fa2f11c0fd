#include <algorithm>
#include <numeric>

#include "models/trace/builder/builder.h"

namespace models::trace {
namespace {

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

constexpr std::size_t max_rows = 4096;  // nobody looks at more; what overlaps beyond shares the last one

/// An event of a track by its start; the others of it are asked where two start at once.
struct SortKey {
  std::int64_t start_ns;
  std::uint32_t index;
};

/// Sorts by merging what is in order already: recorders write a track as a few sorted runs, one behind the other. What
/// is equal stays in its order. Only where two runs overlap is anything moved; `moved` is room for that.
template <class T, class Before>
void merge_runs(std::vector<T>& items, std::vector<T>& moved, const Before& before) {
  std::vector<std::size_t> runs{0};  // where each begins, and the end
  for (std::size_t i = 1; i < items.size(); ++i)
    if (before(items[i], items[i - 1])) runs.push_back(i);
  runs.push_back(items.size());
  const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
  while (runs.size() > 2) {
    std::size_t kept = 1;
    for (std::size_t r = 0; r + 2 < runs.size(); r += 2) {
      const auto begin = at(runs[r]), middle = at(runs[r + 1]), end = at(runs[r + 2]);
      runs[kept++] = runs[r + 2];
      auto to = std::upper_bound(begin, middle, *middle, before);
      moved.assign(to, middle);
      auto right = middle;
      for (auto left = moved.begin(); left != moved.end(); ++to)
        *to = right != end && before(*right, *left) ? *right++ : *left++;
    }
    if (runs.size() % 2 == 0) runs[kept++] = runs.back();
    runs.resize(kept);
  }
}

/// A launching call, and the number that joins it with what it started.
struct Call {
  std::int64_t correlation;
  std::uint32_t index;
};

/// Where the first call stands whose number is above this one, looked for from `from` on in growing steps: what follows
/// each other on a device was mostly launched so.
std::size_t first_above(const std::vector<Call>& calls, std::int64_t correlation, std::size_t from) {
  std::size_t low = 0, high = calls.size(), step = 1;
  if (from < high && calls[from].correlation <= correlation) {
    for (std::size_t i = from; i < calls.size() && calls[i].correlation <= correlation; i += step, step *= 2)
      low = i + 1;
    high = std::min(high, low - 1 + step / 2);
  } else {
    high = from;
    for (; step <= high && calls[high - step].correlation > correlation; step *= 2) high -= step;
    low = high - std::min(step, high);
  }
  const auto at = [&](std::size_t i) { return calls.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto above = [](std::int64_t number, const Call& call) { return number < call.correlation; };
  return static_cast<std::size_t>(std::upper_bound(at(low), at(high), correlation, above) - calls.begin());
}

/// The items of `from` in this order: read along one track after the other, which is several times faster than swapping
/// in place.
template <class T>
std::vector<T> in_order(const std::vector<T>& from, const std::vector<std::uint32_t>& order) {
  std::vector<T> out;
  out.reserve(from.size());
  for (const std::uint32_t i : order) out.push_back(from[i]);
  return out;
}

}  // namespace

void Builder::finish() {
  pair_edges();
  drop_times_of_zero();
  recognise_devices();
  if (trace_.category_counts.size() < trace_.categories.size()) trace_.category_counts.resize(trace_.categories.size());
  if (trace_.categories.empty()) {
    trace_.categories.emplace_back();
    trace_.category_counts.push_back(0);
  }
  if (trace_.events.size() >= none - 1) {
    trace_.events.resize(none - 2);
    correlations_.resize(none - 2);
    trace_.losses.push_back("Events beyond the four thousand millionth were left out.");
  }
  sort_events();
  nest_events();
  link_events();
  name_tracks();
  place_flows();
  finish_memory();
  finish_counters();
  bool any = false;
  const auto& categories = trace_.categories;
  const auto recorder =
      static_cast<std::size_t>(std::find(categories.begin(), categories.end(), "Trace") - categories.begin());
  for (const Event& e : trace_.events) {
    if (e.kind == EventKind::instant || e.category == recorder) continue;
    trace_.first_ns = any ? std::min(trace_.first_ns, e.start_ns) : e.start_ns;
    trace_.last_ns = any ? std::max(trace_.last_ns, e.end_ns()) : e.end_ns();
    any = true;
  }
  const auto left_out = [](std::int64_t n) { return n == 1 ? " and was left out" : " and were left out"; };
  if (without_time_ > 0)
    trace_.losses.push_back(counted(without_time_, "event has", "events have") + " no time that can be read" +
                            left_out(without_time_) + ".");
  if (without_duration_ > 0)
    trace_.losses.push_back(counted(without_duration_, "event has", "events have") + " a duration that is no number" +
                            left_out(without_duration_) + ".");
  if (at_zero_ > 0)
    trace_.losses.push_back(counted(at_zero_, "event stands", "events stand") + " at time 0, long before all others" +
                            left_out(at_zero_) + ": the recorder did not know when they ran.");
  if (bad_durations_ > 0)
    trace_.losses.push_back(counted(bad_durations_, "event has", "events have") +
                            " a duration below zero or above a week" + left_out(bad_durations_) +
                            ": the recorder's clock was wrong there.");
  if (far_arguments_ > 0)
    trace_.losses.push_back("The arguments of " + counted(far_arguments_, "event", "events") +
                            " are larger than 16 MiB or lie beyond the first TiB of the text and are not shown.");
  if (unknown_phases_ > 0)
    trace_.losses.push_back(counted(unknown_phases_, "record is", "records are") + " of a kind that is not shown.");
}

/// Work that the recorder could not place has time 0 (kineto issue 109), decades before a recording that counts from
/// 1970.
void Builder::drop_times_of_zero() {
  if (!any_at_zero_) return;
  std::int64_t first = INT64_MAX;
  for (const Event& e : trace_.events) {
    if (e.start_ns == 0)
      ++at_zero_;
    else
      first = std::min(first, e.start_ns);
  }
  if (at_zero_ == 0 || first == INT64_MAX || first <= max_duration_ns) {
    at_zero_ = 0;
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    if (trace_.events[i].start_ns == 0) continue;
    trace_.events[kept] = trace_.events[i];
    correlations_[kept++] = correlations_[i];
  }
  trace_.events.resize(kept);
  correlations_.resize(kept);
}

void Builder::pair_edges() {
  if (edges_.empty()) return;
  std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  std::int64_t last_ns = edges_.back().time_ns;
  for (const Event& e : trace_.events) last_ns = std::max(last_ns, e.end_ns());
  struct Open {
    std::int64_t id, correlation;
    Event event;
  };
  std::unordered_map<std::uint32_t, std::vector<Open>> open;  // by track
  std::int64_t ends_alone = 0, never_ended = 0;
  for (Edge& edge : edges_) {
    auto& stack = open[edge.event.track];
    if (edge.begin) {
      stack.push_back({edge.id, edge.correlation, edge.event});
      continue;
    }
    auto at = stack.rbegin();  // nested spans end in reverse; asynchronous ones by their id
    if (edge.event.kind == EventKind::async)
      while (at != stack.rend() && at->id != edge.id) ++at;
    if (at == stack.rend()) {
      ++ends_alone;
      continue;
    }
    keep(at->event, edge.time_ns - at->event.start_ns, at->correlation >= 0 ? at->correlation : edge.correlation);
    stack.erase(std::next(at).base());
  }
  for (auto& [track, stack] : open)
    for (Open& o : stack) {
      keep(o.event, last_ns - o.event.start_ns, o.correlation);
      ++never_ended;
    }
  edges_ = {};
  if (ends_alone > 0)
    trace_.losses.push_back(counted(ends_alone, "span ends", "spans end") + " without a beginning in the file" +
                            (ends_alone == 1 ? " and was" : " and were") + " left out.");
  if (never_ended > 0)
    trace_.losses.push_back(counted(never_ended, "span begins and does", "spans begin and do") +
                            " not end in the file: drawn until the last event.");
}

void Builder::sort_events() {
  std::vector<Event>& events = trace_.events;
  std::vector<std::uint32_t> order(events.size());
  for (const Event& e : events) ++trace_.tracks[e.track].count;
  std::vector<std::uint32_t> next(trace_.tracks.size());
  std::uint32_t at = 0;
  for (std::size_t t = 0; t < next.size(); ++t) {
    trace_.tracks[t].first = next[t] = at;
    at += trace_.tracks[t].count;
  }
  for (std::uint32_t i = 0; i < events.size(); ++i) order[next[events[i].track]++] = i;
  const auto by_start = [&](const SortKey& a, const SortKey& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return events[a.index].duration_ns > events[b.index].duration_ns;
  };
  const auto key_at = [&](std::uint32_t i) { return SortKey{events[order[i]].start_ns, order[i]}; };
  std::vector<SortKey> keys, moved;
  for (const Track& track : trace_.tracks) {
    const std::uint32_t end = track.first + track.count;
    std::uint32_t sorted = track.first + 1;
    while (sorted < end && !by_start(key_at(sorted), key_at(sorted - 1))) ++sorted;
    if (sorted >= end) continue;
    keys.clear();
    keys.reserve(track.count);
    for (std::uint32_t i = track.first; i < end; ++i) keys.push_back(key_at(i));
    merge_runs(keys, moved, by_start);
    for (std::uint32_t i = 0; i < track.count; ++i) order[track.first + i] = keys[i].index;
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  correlations_ = in_order(correlations_, order);
  events = in_order(events, order);
}

/// A row for each event: under the spans that contain it, and beside those that it merely overlaps. Where spans nest
/// properly the row is the nesting depth; where they overlap (asynchronous ones do), rows are taken again as soon as
/// they are free.
void Builder::nest_events() {
  std::vector<std::int64_t> ends;  // of the last span in each row
  for (Track& track : trace_.tracks) {
    ends.clear();
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      Event& e = trace_.events[i];
      while (!ends.empty() && ends.back() <= e.start_ns) ends.pop_back();
      std::size_t row = ends.size();
      while (row > 0 && !(ends[row - 1] > e.start_ns && ends[row - 1] >= e.end_ns())) --row;
      while (row < ends.size() && ends[row] > e.start_ns) ++row;
      row = std::min(row, max_rows - 1);
      e.depth = static_cast<std::uint16_t>(row);
      track.depths = std::max(track.depths, static_cast<std::uint16_t>(row + 1));
      if (e.kind == EventKind::instant) continue;
      if (row == ends.size())
        ends.push_back(e.end_ns());
      else
        ends[row] = std::max(ends[row], e.end_ns());
    }
  }
}

void Builder::link_events() {
  std::vector<Call> calls, moved;
  for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
    if (trace_.events[i].cls == EventClass::runtime && correlations_[i] >= 0) calls.push_back({correlations_[i], i});
  }
  merge_runs(calls, moved, [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
  std::size_t after = 0;
  for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
    Event& e = trace_.events[i];
    const std::int64_t correlation = correlations_[i];
    if (!(on_device(e.cls) || e.cls == EventClass::device_other) || correlation < 0) continue;
    after = first_above(calls, correlation, after);
    if (after == 0 || calls[after - 1].correlation != correlation) continue;
    const std::uint32_t call = calls[after - 1].index;
    e.link = call;
    std::uint32_t& back = trace_.events[call].link;
    if (back == none || e.start_ns < trace_.events[back].start_ns) back = i;
  }
  correlations_ = {};
}

void Builder::name_tracks() {
  for (Track& t : trace_.tracks) {
    if (const auto found = process_names_.find(t.pid); found != process_names_.end()) t.process_name = found->second;
    if (const auto found = thread_names_.find(t.pid + '\n' + t.tid); found != thread_names_.end())
      t.name = found->second;
    if (const auto found = process_order_.find(t.pid); found != process_order_.end())
      t.process_sort_index = found->second;
    if (const auto found = thread_order_.find(t.pid + '\n' + t.tid); found != thread_order_.end())
      t.sort_index = found->second;
  }
}

void Builder::place_flows() {
  std::vector<std::uint32_t> track_of(flow_rows_.size(), none);
  std::unordered_map<std::string, std::uint32_t> rows;
  for (std::uint32_t t = 0; t < trace_.tracks.size(); ++t) {
    const Track& track = trace_.tracks[t];
    if (track.kind == TrackKind::thread || track.kind == TrackKind::stream)
      rows.try_emplace(track.pid + '\n' + track.tid, t);
  }
  for (std::size_t i = 0; i < flow_rows_.size(); ++i)
    if (const auto found = rows.find(flow_rows_[i]); found != rows.end()) track_of[i] = found->second;
  for (Flow& f : trace_.flows) f.track = track_of[f.track];
  std::vector<Flow> moved;
  merge_runs(trace_.flows, moved, [](const Flow& a, const Flow& b) { return a.time_ns < b.time_ns; });
}

void Builder::finish_memory() {
  std::stable_sort(memory_.begin(), memory_.end(),
                   [](const MemoryChange& a, const MemoryChange& b) { return a.time_ns < b.time_ns; });
  std::vector<std::size_t> counter_of;  // by entry of trace_.memory
  for (const MemoryChange& m : memory_) {
    const auto found = std::find_if(trace_.memory.begin(), trace_.memory.end(), [&](const MemoryRecord& r) {
      return r.device_type == m.device_type && r.device_id == m.device_id;
    });
    const auto at = static_cast<std::size_t>(found - trace_.memory.begin());
    if (found == trace_.memory.end()) {
      if (trace_.memory.size() >= 256) continue;  // no machine has so many memories
      MemoryRecord fresh;
      fresh.device_type = m.device_type;
      fresh.device_id = m.device_id;
      trace_.memory.push_back(fresh);
      counter_of.push_back(trace_.counters.size());
      trace_.counters.push_back(
          {m.device_type == 0 ? "Allocated on the CPU" : "Allocated on GPU " + std::to_string(m.device_id),
           "B",
           "",
           {}});
    }
    MemoryRecord& r = trace_.memory[at];
    ++r.records;
    ++(m.bytes >= 0 ? r.allocations : r.frees);
    if (__builtin_add_overflow(r.sum_bytes, m.bytes, &r.sum_bytes)) r.sum_bytes = 0;
    r.max_bytes = std::max(r.max_bytes, r.sum_bytes);
    r.min_bytes = std::min(r.min_bytes, r.sum_bytes);
    r.max_allocated_bytes = std::max(r.max_allocated_bytes, m.allocated_bytes);
    r.max_reserved_bytes = std::max(r.max_reserved_bytes, m.reserved_bytes);
    trace_.counters[counter_of[at]].samples.push_back(
        {m.time_ns, static_cast<double>(m.allocated_bytes >= 0 ? m.allocated_bytes : r.sum_bytes)});
  }
  memory_ = {};
}

void Builder::finish_counters() {
  for (Counter& c : trace_.counters)
    std::stable_sort(c.samples.begin(), c.samples.end(),
                     [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
}

}  // namespace models::trace
