#include "kernels/kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>

#include "app/cli/cli.h"
#include "app/cli/kernels_survey.h"
#include "app/cli/table.h"
#include "app/kernel_runs/kernel_json.h"
#include "app/kernel_runs/this_machine.h"
#include "app/platform/file.h"
#include "app/platform/json.h"
#include "app/platform/paths.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

using kernels::Device;
using kernels::Ladder;
using kernels::Measure;
using widgets::format;

constexpr double seconds_of_roofs = 2;

std::string text(double value, std::string_view unit, int significant = 3) {
  return std::string(format(value, unit, significant));
}
std::string size_text(const Ladder& l, std::int64_t size) {
  return l.size_unit.empty() ? std::to_string(size)
                             : std::string(format(static_cast<double>(size), l.size_unit, 4, widgets::Prefix::binary));
}

int list_ladders(const Arguments& a, const Streams& s) {
  Json all = Json::array();
  std::array<std::optional<std::string>, std::size(kernels::device_ids)> whys;  // a driver is asked once
  for (const Ladder& l : kernels::all_ladders()) {
    auto& answer = whys[static_cast<std::size_t>(l.device)];
    if (!answer) answer = kernels::can_be_timed(l).error;
    const std::string& why = *answer;
    if (a.has("--json")) {
      Json rungs = Json::array();
      for (const auto& r : l.rungs)
        rungs.push_back(
            {{"id", r.id}, {"title", r.title}, {"change", r.change}, {"roof", r.roof}, {"source", r.source}});
      static constexpr std::array measures{"flops_per_s", "bytes_per_s", "latency_s"};
      all.push_back({{"id", l.id},
                     {"title", l.title},
                     {"device", kernels::id_of(l.device)},
                     {"measure", measures[static_cast<std::size_t>(l.measure)]},
                     {"size_label", l.size_label},
                     {"size_unit", l.size_unit},
                     {"sizes", {l.size_lo, l.size_hi}},
                     {"size", l.size_default},
                     {"why_not", why},
                     {"rungs", rungs}});
      continue;
    }
    s.out << l.id << "  " << l.title << "; " << l.size_label << " " << size_text(l, l.size_lo) << " to "
          << size_text(l, l.size_hi) << ", " << size_text(l, l.size_default) << " unless told\n";
    if (!why.empty()) s.out << "  not here: " << why << "\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& r : l.rungs)
      rows.push_back({std::string(r.id), std::string(r.title) + ". " + std::string(r.change)});
    print_table(s.out, rows);
    s.out << "\n";
  }
  if (a.has("--json")) s.out << to_text(all, 2) << "\n";
  return 0;
}

models::Result<kernels::Request> read_request(const Arguments& a) {
  using Read = models::Result<kernels::Request>;
  kernels::Request r;
  r.ladder = a.words[1];
  r.rungs = a.values("--rung");
  r.cold = !a.has("--warm");
  const Ladder* ladder = kernels::find_ladder(r.ladder);
  if (a.has("--size")) {
    const auto size = widgets::parse_quantity(a.value("--size"), ladder ? ladder->size_unit : "");
    if (!size.error.empty()) return Read::fail(size.error);
    if (!(size.value >= 1 && size.value <= 1e15))
      return Read::fail("--size must be a whole number from 1; it is \"" + excerpt(a.value("--size")) + "\".");
    r.size = static_cast<std::int64_t>(size.value);
  }
  if (a.has("--seconds")) {
    const auto seconds = widgets::parse_quantity(a.value("--seconds"), "s");
    if (!seconds.error.empty()) return Read::fail(seconds.error);
    r.seconds_per_rung = seconds.value;
  }
  if (a.has("--seed")) {
    const std::string seed = a.value("--seed");
    const auto [end, fault] = std::from_chars(seed.data(), seed.data() + seed.size(), r.seed);
    if (fault != std::errc() || end != seed.data() + seed.size())
      return Read::fail("--seed must be a whole number from 0; it is \"" + excerpt(seed) + "\".");
  }
  if (!a.has("--source")) return Read::ok(std::move(r));
  if (r.rungs.size() != 1) return Read::fail("--source replaces the source of one rung: name it with one --rung.");
  auto source = read_text_argument(a.value("--source"));
  if (!source) return Read::fail(std::move(source.error));
  r.edited_rung = r.rungs[0];
  r.edited_source = std::move(*source);
  return Read::ok(std::move(r));
}

std::vector<std::string> row_of(const kernels::Result& r, const Ladder& ladder, const kernels::Roofs& roofs) {
  if (!r.failure.empty()) return {r.rung, r.failure};
  const kernels::Rung* rung = kernels::find_rung(ladder, r.rung);
  const double roof = rung ? roofs.value(rung->roof) : 0;
  const double rate = ladder.measure == Measure::flops_per_s ? r.flops / r.time_s : r.bytes / r.time_s;
  const double share =
      ladder.measure == Measure::latency_s ? r.time_s / roof : rate / roof;  // a rate of the best, a time of the usual
  const bool roof_of_launch = rung && rung->roof == "gpu_launch";
  const std::string rate_text = ladder.measure == Measure::latency_s
                                    ? text(1e-6 / r.time_s, "") + (roof_of_launch ? " M launches/s" : " M loads/s")
                                    : text(rate, ladder.measure == Measure::flops_per_s ? "FLOP/s" : "B/s");
  return {r.rung,
          rate_text,
          text(r.time_s, "s"),
          "± " + text(r.spread_s / 2, "s", 2),
          std::to_string(r.samples),
          text(r.error, "", 2),
          roof > 0 ? text(100 * share, "%") + " of " + std::string(rung->roof) : ""};
}

void print_compiler(std::ostream& out, const kernels::Result& r) {
  for (const auto& d : r.diagnostics)
    out << r.rung << ":" << d.line << ": " << (d.error ? "error: " : "") << d.text << "\n";
  if (!r.report.arch.empty())
    out << r.rung << ": " << r.report.arch << ", " << r.report.registers_per_thread << " registers per thread, "
        << r.report.spill_store_bytes + r.report.spill_load_bytes << " B spilled, " << r.report.shared_bytes
        << " B shared, blocks of " << r.report.block_threads << " threads\n";
}

/// What says `event`, one line each, at once; false (stop) when nobody can read it any more.
bool say(const Streams& s, const KernelEvent& event) {
  s.out << to_line(event) << "\n" << std::flush;
  return s.out.good();
}
kernels::Listener speaking(const Streams& s) {
  return {.result = [&s](const kernels::Result& r) { return say(s, {.kind = KernelEvent::Kind::result, .result = r}); },
          .progress =
              [&s](double fraction) { return say(s, {.kind = KernelEvent::Kind::progress, .fraction = fraction}); }};
}
int finish_speaking(const Streams& s, const std::string& failure) {
  say(s, {.kind = KernelEvent::Kind::done, .failure = failure});
  return failure.empty() ? 0 : complain(s, failure);
}

/// How much of a core a measurement on the CPU had, from here on.
class CoreShare {
 public:
  /// What spoils the figures, in a sentence; empty: nothing does.
  std::string busy() const {
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    return busy_machine(wall_s, static_cast<double>(std::clock() - cpu_began_) / CLOCKS_PER_SEC);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::clock_t cpu_began_ = std::clock();
};

/// Speaks a run. What a compiler took for a source of the person's own is another program's time, and says nothing of
/// how busy the machine was.
int speak_run(const kernels::Request& request, const Streams& s) {
  const Ladder* ladder = kernels::find_ladder(request.ladder);
  const CoreShare share;
  const auto ran = kernels::run(request, speaking(s));
  if (ran && ladder && ladder->device == Device::cpu && request.edited_source.empty())
    if (std::string note = share.busy(); !note.empty())
      say(s, {.kind = KernelEvent::Kind::note, .note = std::move(note)});
  return finish_speaking(s, ran.error);
}

int run_ladder(const Arguments& a, const Streams& s) {
  if (a.words.size() < 2) return complain(s, "Name a ladder: `ridgeline kernels list` shows them all.");
  const auto read = read_request(a);
  if (!read) return complain(s, read.error);
  const kernels::Request& request = *read;
  if (a.has("--json")) return speak_run(request, s);
  if (const auto checked = kernels::check(request); !checked) return complain(s, checked.error);
  const Ladder* ladder = kernels::find_ladder(request.ladder);
  kernels::Roofs roofs;
  std::vector<std::vector<std::string>> rows{{"rung", "rate", "time", "spread", "samples", "error", "share of roof"}};
  bool own_source_failed = false;
  const kernels::Listener listener{.result = [&](const kernels::Result& r) {
    own_source_failed |= a.has("--source") && !r.compiled;
    print_compiler(s.out, r);
    rows.push_back(row_of(r, *ladder, roofs));
    return true;
  }};
  if (kernels::can_be_timed(*ladder))
    roofs = kernels::measure_roofs(ladder->device, std::min(seconds_of_roofs, 4 * request.seconds_per_rung), {});
  const CoreShare share;
  if (const auto ran = kernels::run(request, listener); !ran) return complain(s, ran.error);
  const std::string busy =
      ladder->device == Device::cpu && request.edited_source.empty() ? share.busy() : std::string();
  // In the ladder's order: rungs finish in their own.
  std::stable_sort(rows.begin() + 1, rows.end(), [&](const auto& x, const auto& y) {
    return kernels::find_rung(*ladder, x[0]) < kernels::find_rung(*ladder, y[0]);
  });
  s.out << ladder->id << "  " << ladder->title << "; " << ladder->size_label << " "
        << size_text(*ladder, request.size > 0 ? request.size : ladder->size_default) << ", "
        << (request.cold ? "cold" : "warm") << (roofs.device_name.empty() ? "" : ", ") << roofs.device_name << "\n";
  print_table(s.out, rows);
  if (!busy.empty()) s.error << busy << "\n";
  return own_source_failed ? 1 : 0;
}

/// Keeps the ceilings as a chip of the learner's own, for every lab.
int save_chip(const kernels::Roofs& roofs, const Streams& s) {
  const auto user = user_paths();
  if (!user) return complain(s, user.error);
  const MachineChip chip = machine_chip(roofs, machine_facts(), today());
  if (chip.json.empty())
    return complain(s, "No chip was made of them: that takes an arithmetic rate, a bandwidth and the memory's size.");
  const auto path = user->config / "chips" / chip.file_name;
  if (const auto written = write_file(path, chip.json); !written) return complain(s, written.error);
  s.out << "\n" << chip.name << " is now a chip: " << path.string() << "\n";
  return 0;
}

/// The order over all runs: `pattern` again and again.
std::string turns_of(const std::string& pattern, std::size_t runs) {
  std::string out;
  for (std::size_t i = 0; !pattern.empty() && i < runs; ++i) out += pattern[i % pattern.size()];
  return out;
}

models::Result<kernels::TurnsRequest> read_turns(const Arguments& a) {
  using Read = models::Result<kernels::TurnsRequest>;
  const auto shared = read_request(a);
  if (!shared) return Read::fail(shared.error);
  if (shared->rungs.size() != 2)
    return Read::fail("Name the two rungs to compare, A first: --rung A --rung B; the same one twice is fine.");
  const std::string pattern = a.value("--turns", "AB");
  std::size_t runs = std::max<std::size_t>(pattern.size(), 40);
  if (a.has("--runs")) {
    const auto asked = widgets::parse_quantity(a.value("--runs"), "");
    if (!asked.error.empty()) return Read::fail(asked.error);
    if (!(asked.value >= 1 && asked.value <= kernels::max_turns && asked.value == std::floor(asked.value)))
      return Read::fail("--runs is a whole number from 1 to " + std::to_string(kernels::max_turns) + "; it is \"" +
                        excerpt(a.value("--runs")) + "\".");
    runs = static_cast<std::size_t>(asked.value);
  } else if (a.has("--turns")) {
    runs = pattern.size();
  }
  return Read::ok({.ladder = shared->ladder,
                   .a = shared->rungs[0],
                   .b = shared->rungs[1],
                   .turns = turns_of(pattern, runs),
                   .size = shared->size,
                   .cold = shared->cold,
                   .seed = shared->seed});
}

/// Two rungs in a given order, every run by itself: a CSV that profiling/measure reads, or events.
int run_in_turns(const Arguments& a, const Streams& s) {
  if (a.words.size() < 2) return complain(s, "Name a ladder: `ridgeline kernels list` shows them all.");
  const auto read = read_turns(a);
  if (!read) return complain(s, read.error);
  const kernels::TurnsRequest& request = *read;
  const CoreShare share;
  const bool json = a.has("--json");
  // A rung against itself: both names must differ for whoever reads the file.
  const std::string b = request.b + (request.a == request.b ? " again" : "");
  if (!json) s.out << "version,time_s\n";
  const auto ran = kernels::run_turns(request, [&](const kernels::TimedTurn& turn) {
    if (json) return say(s, {.kind = KernelEvent::Kind::turn, .turn = turn});
    std::array<char, 32> time{};
    const auto end = std::to_chars(time.data(), time.data() + time.size(), turn.time_s).ptr;
    s.out << (turn.is_b ? b : request.a) << "," << std::string_view(time.data(), end) << "\n" << std::flush;
    return s.out.good();
  });
  std::string busy;
  if (ran && !share.busy().empty()) busy = "Other work ran on this machine meanwhile: the runs had to share its cores.";
  if (json) {
    if (!busy.empty()) say(s, {.kind = KernelEvent::Kind::note, .note = std::move(busy)});
    return finish_speaking(s, ran.error);
  }
  if (!ran) return complain(s, ran.error);
  if (!busy.empty()) s.error << busy << "\n";
  return 0;
}

int roofline(const Arguments& a, const Streams& s) {
  const std::string device = a.value("--device", "cpu");
  const auto at = std::find(std::begin(kernels::device_ids), std::end(kernels::device_ids), device);
  if (at == std::end(kernels::device_ids))
    return complain(s, "--device is cpu, cuda or opengl; it is \"" + excerpt(device) + "\".");
  double seconds = seconds_of_roofs;
  if (a.has("--seconds")) {
    const auto parsed = widgets::parse_quantity(a.value("--seconds"), "s");
    if (!parsed.error.empty()) return complain(s, parsed.error);
    seconds = parsed.value;
  }
  const bool json = a.has("--json");
  if (json && a.has("--save")) return complain(s, "--save writes a chip and --json writes events: choose one.");
  const CoreShare share;
  auto roofs = kernels::measure_roofs(static_cast<Device>(at - std::begin(kernels::device_ids)), seconds,
                                      json ? speaking(s) : kernels::Listener{});
  if (device == "cpu") roofs.note = share.busy();
  if (json) {
    if (roofs.failure.empty()) {
      say(s, {.kind = KernelEvent::Kind::device, .device = roofs.device, .name = roofs.device_name});
      for (const auto& roof : roofs.roofs) say(s, {.kind = KernelEvent::Kind::roof, .roof = roof});
      if (!roofs.note.empty()) say(s, {.kind = KernelEvent::Kind::note, .note = roofs.note});
    }
    return finish_speaking(s, roofs.failure);
  }
  if (!roofs.failure.empty()) return complain(s, roofs.failure);
  s.out << roofs.device_name << "\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : roofs.roofs) rows.push_back({r.id, text(r.value, r.unit), r.title});
  print_table(s.out, rows);
  if (!roofs.note.empty()) s.error << roofs.note << "\n";
  return a.has("--save") ? save_chip(roofs, s) : 0;
}

}  // namespace

int kernels_call(const Arguments& a, const Streams& s) {
  const std::string what = a.words.empty() ? "" : a.words[0];
  if (what == "run") return run_ladder(a, s);
  if (what == "turns") return run_in_turns(a, s);
  if (what == "check") return check_kernels(a, s);
  if (what == "measure") return measure_kernels(a, s);
  if (what != "list" && what != "roofline")
    return complain(s, "`ridgeline kernels` is followed by list, run LADDER, turns LADDER, check, measure or roofline" +
                           (what.empty() ? "." : "; \"" + excerpt(what) + "\" is none of them."));
  if (a.words.size() > 1)
    return complain(
        s, "\"" + excerpt(a.words[1]) + "\" is one word too many: ridgeline kernels " + what + " takes options alone.");
  return what == "list" ? list_ladders(a, s) : roofline(a, s);
}

}  // namespace app::cli
