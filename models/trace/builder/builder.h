#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/trace/builder/interner.h"
#include "models/trace/trace.h"

namespace models::trace {

/// One record of a file as its reader found it. The texts live until add() returns.
struct Record {
  char phase = 0;
  bool has_time = false;
  bool bad_duration = false;  ///< one is given and is no number
  std::int64_t time_ns = 0, duration_ns = 0;
  std::string_view name, category, pid, tid, id;
  bool has_category = false;
  std::uint64_t args_offset = 0;
  std::uint32_t args_bytes = 0;
  std::int64_t correlation = -1;
  std::string_view device, stream;  ///< as in the arguments; empty: not given
};

struct MemoryChange {
  std::int64_t time_ns = 0, bytes = 0, allocated_bytes = -1, reserved_bytes = -1;
  int device_type = 0, device_id = -1;
};

/// What kind of event a category names, before its name says whether a kernel communicates.
EventClass class_of_category(std::string_view category);
/// Whether a kernel of this name moves data between devices: those of NCCL and its kin, of symmetric memory, custom
/// all-reduces, NVSHMEM, MSCCL++ and DeepEP. Reductions inside a device are none.
bool is_communication(std::string_view kernel);
/// What work on a device is whose category says nothing: memory, communication or computation, by its name.
EventClass class_of_work(std::string_view name);

/// Puts a Trace together from records in any order.
class Builder {
 public:
  explicit Builder(Trace& trace) : trace_(trace), string_(trace.strings), category_(trace.categories) {}
  /// Counts the record and keeps what it says. Counters, metadata and memory come by their own calls beside it.
  void add(const Record& record);
  /// Keeps a span that is made in memory: its track, name and category are numbers of this builder already.
  void add_span(const Event& event, std::int64_t duration_ns, std::int64_t correlation);
  std::uint32_t string_number(std::string_view text) { return string_(text); }
  std::uint16_t category_number(std::string_view category);
  void add_counter(const Record& record, std::string_view key, double value);
  void add_memory(const MemoryChange& change) { memory_.push_back(change); }
  void name_process(std::string_view pid, std::string_view name) { process_names_[std::string(pid)] = name; }
  void name_thread(std::string_view pid, std::string_view tid, std::string_view name) {
    thread_names_[std::string(pid) + '\n' + std::string(tid)] = name;
  }
  void sort_process(std::string_view pid, std::int64_t index) { process_order_[std::string(pid)] = index; }
  void sort_thread(std::string_view pid, std::string_view tid, std::int64_t index) {
    thread_order_[std::string(pid) + '\n' + std::string(tid)] = index;
  }
  std::uint32_t track(TrackKind kind, const Record& record);
  /// Makes room for so many times the events and flows there are, so that growing does not hold two copies.
  void expect(double times);
  /// Pairs ends with begins, sorts, nests, links. After it the Trace is complete.
  void finish();

 private:
  struct Edge {  // of a span given as begin and end
    std::int64_t time_ns = 0, id = 0, correlation = -1;
    Event event;
    bool begin = false;
  };
  std::uint32_t category_of(std::string_view text);
  std::uint32_t flow_row(const Record& record);
  std::uint32_t new_or_known_track(TrackKind kind, const Record& record);
  EventClass class_of(const Record& record, std::uint16_t category, std::uint32_t name);
  EventClass class_by_name(std::uint32_t name);
  TrackKind track_kind(EventClass cls, std::uint16_t category) const;
  void keep(Event event, std::int64_t duration_ns, std::int64_t correlation);
  void pair_edges();
  void drop_times_of_zero();
  void recognise_devices();
  void sort_events();
  void nest_events();
  void link_events();
  void finish_memory();
  void finish_counters();
  void name_tracks();
  void place_flows();

  Trace& trace_;
  Interner string_, category_;
  std::vector<std::string> flow_rows_;  // "pid\ntid" of flow ends, until finish() knows the tracks
  Interner flow_row_{flow_rows_};
  std::vector<EventClass> category_class_;
  std::vector<EventClass> work_class_;   // by name: other where it was not yet asked
  std::vector<std::string> track_keys_;  // by track: the texts that make it one
  Interner track_key_{track_keys_};
  Recent<3> recent_category_;  // what is asked for every event: texts of 16 bytes at most
  Recent<5> recent_track_;     // and of 8
  Recent<3> recent_flow_row_;
  std::unordered_map<std::string, std::uint32_t> counter_ids_;
  std::string key_;
  std::unordered_map<std::string, std::string> process_names_, thread_names_;
  std::unordered_map<std::string, std::int64_t> process_order_, thread_order_;
  std::vector<std::int64_t>
      correlations_;  // of trace_.events: joins a launch with what it started; needed until they are linked
  std::vector<Edge> edges_;
  std::vector<MemoryChange> memory_;
  std::int64_t last_start_ns_ = 0, without_time_ = 0, without_duration_ = 0, at_zero_ = 0, bad_durations_ = 0,
               unknown_phases_ = 0, far_arguments_ = 0;
  bool any_span_ = false, any_at_zero_ = false;
};

}  // namespace models::trace
