#include "app/kernel_runs/kernel_service.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/kernel_runs/this_machine.h"
#include "app/platform/json.h"
#include "app/scenario/sentences.h"

namespace app {
namespace {

constexpr std::size_t max_note_bytes = 4000;

double finite_amount(double v) { return std::isfinite(v) && v >= 0 ? std::min(v, 1e30) : 0; }

std::string result_row(const kernels::Result& r, const kernels::Request& request) {
  std::string notes;
  for (const auto& d : r.diagnostics) {
    std::string line = std::to_string(std::max(d.line, 0)) + (d.error ? " error " : " note ") + d.text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (notes.size() + line.size() < max_note_bytes) notes += line + "\n";
  }
  const auto time = [](double s) { return std::min(finite_amount(s), 1e6); };
  return to_text(Json{{"ladder", r.ladder},
                      {"rung", r.rung},
                      {"size", r.size},
                      {"cold", request.cold},
                      {"edited", !request.edited_rung.empty() && r.rung == request.edited_rung},
                      {"time_s", time(r.time_s)},
                      {"spread_s", time(r.spread_s)},
                      {"samples", std::max<std::int64_t>(r.samples, 0)},
                      {"flops", finite_amount(r.flops)},
                      {"bytes", finite_amount(r.bytes)},
                      {"error", finite_amount(r.error)},
                      {"error_bound", finite_amount(r.error_bound)},
                      {"compiled", r.compiled},
                      {"checked", r.checked},
                      {"failure", r.failure.substr(0, max_note_bytes)},
                      {"arch", r.report.arch.substr(0, 64)},
                      {"diagnostics", notes},
                      {"registers", std::max(r.report.registers_per_thread, 0)},
                      {"spill_store_bytes", std::max<std::int64_t>(r.report.spill_store_bytes, 0)},
                      {"spill_load_bytes", std::max<std::int64_t>(r.report.spill_load_bytes, 0)},
                      {"shared_bytes", std::max<std::int64_t>(r.report.shared_bytes, 0)},
                      {"block_threads", std::max(r.report.block_threads, 0)}});
}

const std::vector<std::string> same_run{"ladder", "rung", "size", "cold", "edited"};
const std::vector<std::string> same_roof{"device", "id"};

/// Reads the whole text as a number.
template <class T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const auto comma = list.find(',');
    out.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return out;
}

/// Sets one member of a request; false when there is none of that name or the value does not fit it.
bool take_member(KernelRequest& asked, std::string_view key, std::string_view value) {
  kernels::Request& r = asked.request;
  if (key == "call") {
    asked.roofline = value == "roofline";
    asked.in_turns = value == "turns";
    return asked.roofline || asked.in_turns || value == "run";
  }
  if (key == "device") {
    const auto at = std::find(std::begin(kernels::device_ids), std::end(kernels::device_ids), value);
    if (at == std::end(kernels::device_ids)) return false;
    asked.device = static_cast<kernels::Device>(at - std::begin(kernels::device_ids));
    return true;
  }
  if (key == "cold") {
    r.cold = value != "0";
    return value == "0" || value == "1";
  }
  if (key == "size") return parse_number(value, r.size) && r.size >= 0;
  if (key == "seed") return parse_number(value, r.seed);
  if (key == "seconds")
    return parse_number(value, r.seconds_per_rung) && r.seconds_per_rung > 0 && r.seconds_per_rung <= 60;
  if (key == "turns")
    asked.turns = value;
  else if (key == "ladder")
    r.ladder = value;
  else if (key == "edited_rung")
    r.edited_rung = value;
  else if (key == "rungs")
    r.rungs = split_at_commas(value);
  else
    return false;
  return true;
}

void serve_run(const KernelWorker& worker, const KernelRequest& asked, ServiceSink& sink,
               chapters::Progress& progress) {
  const auto stop = [&] { return progress.cancelled.load(); };
  const auto* ladder = kernels::find_ladder(asked.request.ladder);
  std::size_t results = 0, checked = 0;
  const auto report_progress = [&] {
    const std::size_t all = !asked.request.rungs.empty() ? asked.request.rungs.size()
                            : ladder                     ? ladder->rungs.size()
                                                         : 1;
    sink.status(results == 0 ? "running " + std::to_string(all) + (all == 1 ? " rung" : " rungs")
                             : std::to_string(results) + " of " + std::to_string(all) + " rungs");
  };
  report_progress();
  const kernels::Listener listener{.result =
                                       [&](const kernels::Result& r) {
                                         sink.row("runs", result_row(r, asked.request), same_run);
                                         const bool said_by_the_compiler = !r.compiled && !r.diagnostics.empty();
                                         // Rungs that are right and not timed all say the same: once is enough.
                                         const bool said_before = r.checked && checked++ > 0;
                                         if (!r.failure.empty() && !said_by_the_compiler && !said_before)
                                           sink.say(r.rung + ": " + r.failure);
                                         ++results;
                                         report_progress();
                                         return !stop();
                                       },
                                   .progress =
                                       [&](double fraction) {
                                         progress.fraction = fraction;
                                         return !stop();
                                       }};
  if (auto ran =
          run_kernels(worker, asked.request, listener, stop, [&](std::string note) { sink.say(std::move(note)); });
      !ran)
    sink.say(std::move(ran.error));
}

/// Runs of two rungs, as they are made. Rows of an earlier series stay until both versions have some of the new one.
class TurnsToRows {
 public:
  TurnsToRows(const kernels::TurnsRequest& request, ServiceSink& sink, chapters::Progress& progress)
      : request_(request), sink_(sink), progress_(progress) {}

  bool operator()(const kernels::TimedTurn& turn) {
    ++(turn.is_b ? of_b_ : of_a_);
    waiting_.push_back(to_text(Json{{"is_b", turn.is_b}, {"time_s", std::min(finite_amount(turn.time_s), 1e6)}}));
    if (std::min(of_a_, of_b_) >= shown_from) hand_over();
    const std::size_t all = request_.turns.size(), made = of_a_ + of_b_;
    progress_.fraction = static_cast<double>(made) / static_cast<double>(all);
    sink_.status(std::to_string(made) + " of " + std::to_string(all) + " runs");
    return !progress_.cancelled.load();
  }

 private:
  static constexpr std::size_t shown_from = 6;

  void hand_over() {
    if (!std::exchange(begun_, true)) {
      sink_.clear("timed");
      sink_.clear("timed_runs");
      sink_.row("timed",
                to_text(Json{{"ladder", request_.ladder},
                             {"a", request_.a},
                             {"b", request_.b},
                             {"size", request_.size},
                             {"cold", request_.cold}}),
                {});
    }
    for (std::string& row : waiting_) sink_.row("timed_runs", std::move(row), {});
    waiting_.clear();
  }

  const kernels::TurnsRequest& request_;
  ServiceSink& sink_;
  chapters::Progress& progress_;
  std::vector<std::string> waiting_;
  std::size_t of_a_ = 0, of_b_ = 0;
  bool begun_ = false;
};

void serve_turns(const KernelWorker& worker, const KernelRequest& asked, ServiceSink& sink,
                 chapters::Progress& progress) {
  const kernels::Request& r = asked.request;
  if (r.rungs.empty()) return sink.say("The lab asked for nothing that can be run.");
  const kernels::TurnsRequest request{.ladder = r.ladder,
                                      .a = r.rungs.front(),
                                      .b = r.rungs.back(),
                                      .turns = asked.turns,
                                      .size = r.size,
                                      .cold = r.cold,
                                      .seed = r.seed};
  if (const auto checked = kernels::check(request); !checked) return sink.say(checked.error);
  sink.status("checking both rungs");
  TurnsToRows rows(request, sink, progress);
  const auto ran = run_turns(
      worker, request, [&](const kernels::TimedTurn& turn) { return rows(turn); },
      [&] { return progress.cancelled.load(); }, [&](std::string note) { sink.say(std::move(note)); });
  if (!ran) sink.say(ran.error);
}

void serve_roofs(const KernelWorker& worker, const KernelRequest& asked, ServiceSink& sink,
                 chapters::Progress& progress) {
  const auto stop = [&] { return progress.cancelled.load(); };
  sink.status("measuring ceilings");
  const auto roofs = measure_roofs(worker, asked.device, asked.request.seconds_per_rung,
                                   {.result = {},
                                    .progress =
                                        [&](double fraction) {
                                          progress.fraction = fraction;
                                          return !stop();
                                        }},
                                   stop);
  if (stop()) return;
  for (const auto& roof : roofs.roofs)
    sink.row("roofs",
             to_text(Json{{"device", kernels::id_of(asked.device)},
                          {"device_name", roofs.device_name.substr(0, 200)},
                          {"id", roof.id.substr(0, 64)},
                          {"title", roof.title.substr(0, 200)},
                          {"unit", roof.unit.substr(0, 16)},
                          {"value", finite_amount(roof.value)}}),
             same_roof);
  if (!roofs.failure.empty()) return sink.say(roofs.failure);
  const auto chip = machine_chip(roofs, machine_facts(), today());
  if (chip.json.empty()) {
    sink.say("The ceilings hold no arithmetic rate or no bandwidth, so no chip was made of them.");
  } else {
    sink.chip(chip.file_name, chip.json);
    sink.say("\"" + chip.name + "\" is now among the chips of every lab.");
  }
  if (!roofs.note.empty()) sink.say(roofs.note.substr(0, max_note_bytes));
}

}  // namespace

models::Result<KernelRequest> read_kernel_request(std::string_view text) {
  using Read = models::Result<KernelRequest>;
  KernelRequest asked;
  bool called = false;
  while (!text.empty()) {
    if (const auto space = text.find(' '); text.substr(0, space) == "edited_source") {
      asked.request.edited_source = text.substr(std::min(space + 1, text.size()));
      break;
    }
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const std::string_view key = line.substr(0, line.find(' ')),
                           value = key.size() < line.size() ? line.substr(key.size() + 1) : std::string_view();
    called = called || key == "call";
    if (!take_member(asked, key, value))
      return Read::fail("The lab asked for \"" + excerpt(std::string(key)) + " " + excerpt(std::string(value)) +
                        "\", which makes no sense.");
  }
  if (!called || (!asked.roofline && asked.request.ladder.empty()))
    return Read::fail("The lab asked for nothing that can be run.");
  return Read::ok(std::move(asked));
}

Service kernel_service(KernelWorker worker) {
  return [worker = std::move(worker)](const std::string& request, ServiceSink& sink, chapters::Progress& progress) {
    const auto asked = read_kernel_request(request);
    if (!asked) return sink.say(asked.error);
    if (asked->roofline)
      serve_roofs(worker, *asked, sink, progress);
    else if (asked->in_turns)
      serve_turns(worker, *asked, sink, progress);
    else
      serve_run(worker, *asked, sink, progress);
  };
}

}  // namespace app
