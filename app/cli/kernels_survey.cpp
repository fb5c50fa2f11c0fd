#include "app/cli/kernels_survey.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/table.h"
#include "app/kernel_runs/kernel_worker.h"
#include "app/kernel_runs/measured_rows.h"
#include "app/kernel_runs/this_machine.h"
#include "app/platform/file.h"
#include "app/platform/paths.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

using kernels::Device;
using kernels::Ladder;
using LadderList = models::Result<std::vector<const Ladder*>>;

/// The ladders that the words after the first name; without any, all of the GPU.
LadderList ladders_named(const Arguments& a) {
  std::vector<const Ladder*> out;
  for (std::size_t i = 1; i < a.words.size(); ++i) {
    const Ladder* ladder = kernels::find_ladder(a.words[i]);
    if (!ladder)
      return LadderList::fail("There is no ladder \"" + excerpt(a.words[i]) +
                              "\": `ridgeline kernels list` shows them all.");
    out.push_back(ladder);
  }
  if (out.empty())
    for (const Ladder& ladder : kernels::all_ladders())
      if (ladder.device == Device::cuda) out.push_back(&ladder);
  return LadderList::ok(std::move(out));
}

models::Result<double> seconds_of(const Arguments& a, double otherwise) {
  if (!a.has("--seconds")) return models::Result<double>::ok(otherwise);
  const auto seconds = widgets::parse_quantity(a.value("--seconds"), "s");
  if (!seconds.error.empty()) return models::Result<double>::fail(seconds.error);
  return models::Result<double>::ok(seconds.value);
}

std::string error_text(double error) { return std::string(widgets::format(error, "", 2)); }

Json row_of(const kernels::Result& r) {
  Json row = {{"ladder", r.ladder}, {"rung", r.rung}, {"size", r.size}};
  if (!r.failure.empty()) {
    row["failure"] = r.failure;
    return row;
  }
  row.update(Json{{"time_s", r.time_s},
                  {"spread_s", r.spread_s},
                  {"samples", r.samples},
                  {"flops", r.flops},
                  {"bytes", r.bytes},
                  {"error", r.error},
                  {"error_bound", r.error_bound}});
  if (!r.report.arch.empty())
    row.update(Json{{"arch", r.report.arch},
                    {"registers_per_thread", r.report.registers_per_thread},
                    {"shared_bytes", r.report.shared_bytes}});
  return row;
}

/// Keeps what other labs show beside their models.
int save_rows(const std::vector<kernels::Result>& results, const std::vector<kernels::Roofs>& roofs, const Streams& s) {
  const auto user = user_paths();
  if (!user) return complain(s, user.error);
  const auto files = measured_rows(results, roofs.empty() ? "" : roofs.back().device_name, today());
  if (files.empty())
    return complain(s, "Nothing was kept for other labs: that takes the rungs of cuda-stride or cuda-banks, timed.");
  for (const MeasuredFile& file : files) {
    const auto path = user->config / "published" / file.file_name;
    if (const auto written = write_file(path, file.json); !written) return complain(s, written.error);
    s.out << "Kept next to the model of its lab: " << path.string() << "\n";
  }
  return 0;
}

}  // namespace

Verdict verdict_of(const kernels::Result& r, bool device) {
  if (r.failure.empty()) return Verdict::right;
  // A rung for other hardware is refused before the compiler sees it.
  const bool refused = !r.compiled && r.diagnostics.empty() && r.report.arch.empty();
  return refused || !device ? Verdict::elsewhere : Verdict::wrong;
}

Json survey_document(const std::vector<kernels::Roofs>& roofs, const std::vector<kernels::Result>& results,
                     const std::string& date, const std::string& note) {
  Json out;
  std::string chips;
  for (const auto& r : roofs)
    if (!r.device_name.empty()) chips += (chips.empty() ? "" : "; ") + r.device_name;
  out["chip"] = chips;
  out["date"] = date;
  if (!note.empty()) out["note"] = note;
  out["how"] =
      "ridgeline kernels measure: each rung checked against float64 before and after, cold, median and interquartile "
      "range";
  out["roofs"] = Json::array();
  for (const auto& of_device : roofs)
    for (const auto& r : of_device.roofs)
      out["roofs"].push_back({{"id", r.id}, {"title", r.title}, {"unit", r.unit}, {"value", r.value}});
  out["rows"] = Json::array();
  for (const auto& r : results) out["rows"].push_back(row_of(r));
  return out;
}

int check_kernels(const Arguments& a, const Streams& s) {
  const auto ladders = ladders_named(a);
  if (!ladders) return complain(s, ladders.error);
  CheckedRungs counts;
  std::vector<std::vector<std::string>> rows{{"rung", "", "error", "accepted", "size"}};
  for (const Ladder* ladder : *ladders) {
    if (ladder->device == Device::cpu)
      return complain(s, "Only CUDA ladders are checked alone: a CPU's are checked whenever they run.");
    const bool device = static_cast<bool>(kernels::can_be_timed(*ladder));
    const auto take = [&](const kernels::Result& r) {
      const Verdict verdict = verdict_of(r, device);
      ++(verdict == Verdict::right ? counts.right : verdict == Verdict::wrong ? counts.wrong : counts.elsewhere);
      const std::string name = r.ladder + "/" + r.rung;
      if (verdict == Verdict::right)
        rows.push_back({name, "right", error_text(r.error), error_text(r.error_bound), std::to_string(r.size)});
      else
        rows.push_back({name, (verdict == Verdict::wrong ? "WRONG: " : "not here: ") + r.failure});
      return true;
    };
    const auto ran =
        kernels::run({.ladder = std::string(ladder->id), .check_only = true}, {.result = take, .progress = {}});
    if (!ran) return complain(s, ran.error);
  }
  print_table(s.out, rows);
  s.out << counts.right << " right, " << counts.wrong << " wrong, " << counts.elsewhere << " not run here\n";
  return counts.wrong > 0 ? 1 : 0;
}

int measure_kernels(const Arguments& a, const Streams& s) {
  const auto ladders = ladders_named(a);
  if (!ladders) return complain(s, ladders.error);
  const auto seconds = seconds_of(a, 0.3);
  if (!seconds) return complain(s, seconds.error);
  std::vector<kernels::Roofs> roofs;
  std::vector<kernels::Result> results;
  KernelWorker worker;  // a process for each ladder: a context that is lost takes no other along
  worker.limits.silence_s = 120;
  for (const Device device : {Device::cpu, Device::cuda}) {
    const auto at =
        std::find_if(ladders->begin(), ladders->end(), [&](const Ladder* l) { return l->device == device; });
    if (at == ladders->end()) continue;
    if (const auto timed = kernels::can_be_timed(**at); !timed) return complain(s, timed.error);
    roofs.push_back(kernels::measure_roofs(device, std::min(6.0, 10 * *seconds), {}));
    if (!roofs.back().failure.empty()) s.error << roofs.back().failure << "\n";
  }
  for (const Ladder* ladder : *ladders) {
    const auto take = [&](const kernels::Result& r) {
      results.push_back(r);
      s.out << r.ladder << "/" << r.rung << "  "
            << (r.failure.empty() ? std::string(widgets::format(r.time_s, "s", 4)) : r.failure) << "\n"
            << std::flush;
      return true;
    };
    const kernels::Request request{.ladder = std::string(ladder->id), .seconds_per_rung = *seconds};
    const kernels::Listener listener{.result = take, .progress = {}};
    const auto ran =
        ladder->device == Device::cpu ? kernels::run(request, listener) : run_kernels(worker, request, listener, {});
    if (!ran) return complain(s, ran.error);
  }
  if (a.has("--save"))
    if (const auto saved = save_rows(results, roofs, s); saved != 0) return saved;
  if (!a.has("-o")) return 0;
  const std::string text = to_text(survey_document(roofs, results, today(), a.value("--note")), 1) + "\n";
  if (const auto written = write_file(a.value("-o"), text); !written) return complain(s, written.error);
  s.out << "Written: " << a.value("-o") << "\n";
  return 0;
}

}  // namespace app::cli
