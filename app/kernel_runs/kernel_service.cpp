#include "app/kernel_runs/kernel_service.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/kernel_runs/this_machine.h"
#include "app/scenario/sentences.h"

namespace app {
namespace {

constexpr std::size_t most_text = 4000;

double sane(double v) { return std::isfinite(v) && v >= 0 ? std::min(v, 1e30) : 0; }

std::string row_of(const kernels::Result& r, const kernels::Request& request) {
  std::string notes;
  for (const auto& d : r.diagnostics) {
    std::string line = std::to_string(std::max(d.line, 0)) + (d.error ? " error " : " note ") + d.text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    if (notes.size() + line.size() < most_text) notes += line + "\n";
  }
  const auto time = [](double s) { return std::min(sane(s), 1e6); };
  return to_text(Json{{"ladder", r.ladder},
                      {"rung", r.rung},
                      {"size", r.size},
                      {"cold", request.cold},
                      {"edited", !request.edited_rung.empty() && r.rung == request.edited_rung},
                      {"time_s", time(r.time_s)},
                      {"spread_s", time(r.spread_s)},
                      {"samples", std::max<std::int64_t>(r.samples, 0)},
                      {"flops", sane(r.flops)},
                      {"bytes", sane(r.bytes)},
                      {"error", sane(r.error)},
                      {"error_bound", sane(r.error_bound)},
                      {"compiled", r.compiled},
                      {"failure", r.failure.substr(0, most_text)},
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

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size();
}

void serve_run(const KernelWorker& worker, const KernelAsk& ask, ServiceSink& sink, chapters::Progress& progress) {
  const auto stop = [&] { return progress.cancelled.load(); };
  const auto* ladder = kernels::find_ladder(ask.request.ladder);
  std::size_t results = 0;
  const auto tell = [&] {
    const std::size_t all = !ask.request.rungs.empty() ? ask.request.rungs.size() : ladder ? ladder->rungs.size() : 1;
    sink.status(results == 0 ? "running " + std::to_string(all) + (all == 1 ? " rung" : " rungs")
                             : std::to_string(results) + " of " + std::to_string(all) + " rungs");
  };
  tell();
  const kernels::Listener listener{.result =
                                       [&](const kernels::Result& r) {
                                         sink.row("runs", row_of(r, ask.request), same_run);
                                         const bool said_by_the_compiler = !r.compiled && !r.diagnostics.empty();
                                         if (!r.failure.empty() && !said_by_the_compiler)
                                           sink.say(r.rung + ": " + r.failure);
                                         ++results;
                                         tell();
                                         return !stop();
                                       },
                                   .progress =
                                       [&](double fraction) {
                                         progress.fraction = fraction;
                                         return !stop();
                                       }};
  if (auto sentence = run_kernels(worker, ask.request, listener, stop); !sentence.empty())
    sink.say(std::move(sentence));
}

void serve_roofs(const KernelWorker& worker, const KernelAsk& ask, ServiceSink& sink, chapters::Progress& progress) {
  const auto stop = [&] { return progress.cancelled.load(); };
  sink.status("measuring ceilings");
  const auto roofs = measure_roofs(worker, ask.device, ask.request.seconds_per_rung,
                                   {.result = {},
                                    .progress =
                                        [&](double fraction) {
                                          progress.fraction = fraction;
                                          return !stop();
                                        }},
                                   stop);
  if (stop()) return;
  const std::string device = ask.device == kernels::Device::cpu ? "cpu" : "cuda";
  for (const auto& roof : roofs.roofs)
    sink.row("roofs",
             to_text(Json{{"device", device},
                          {"device_name", roofs.device_name.substr(0, 200)},
                          {"id", roof.id.substr(0, 64)},
                          {"title", roof.title.substr(0, 200)},
                          {"unit", roof.unit.substr(0, 16)},
                          {"value", sane(roof.value)}}),
             same_roof);
  if (!roofs.failure.empty()) return sink.say(roofs.failure);
  const auto chip = machine_chip(roofs, machine_facts(), today());
  if (chip.json.empty())
    return sink.say("The ceilings hold no arithmetic rate or no bandwidth, so no chip was made of them.");
  sink.chip(chip.file_name, chip.json);
  sink.say("\"" + chip.name + "\" is now among the chips of every lab.");
}

}  // namespace

KernelAsk parse_kernel_ask(std::string_view text) {
  KernelAsk ask;
  bool called = false;
  const auto fault = [&](std::string_view key, std::string_view value) {
    ask.error = "The lab asked for \"" + excerpt(std::string(key)) + " " + excerpt(std::string(value)) +
                "\", which makes no sense.";
  };
  while (!text.empty() && ask.error.empty()) {
    auto end = text.find('\n');
    const auto space = text.find(' ');
    if (text.substr(0, space) == "edited_source") {
      ask.request.edited_source = text.substr(std::min(space + 1, text.size()));
      break;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const std::string_view key = line.substr(0, line.find(' ')),
                           value = key.size() < line.size() ? line.substr(key.size() + 1) : std::string_view();
    auto& r = ask.request;
    bool good = true;
    if (key == "call")
      good = value == "run" || value == "roofline", called = true, ask.roofline = value == "roofline";
    else if (key == "ladder")
      r.ladder = value;
    else if (key == "device")
      good = value == "cpu" || value == "cuda",
      ask.device = value == "cuda" ? kernels::Device::cuda : kernels::Device::cpu;
    else if (key == "size")
      good = number(value, r.size) && r.size >= 0;
    else if (key == "seed")
      good = number(value, r.seed);
    else if (key == "seconds")
      good = number(value, r.seconds_per_rung) && r.seconds_per_rung > 0 && r.seconds_per_rung <= 60;
    else if (key == "cold")
      good = value == "0" || value == "1", r.cold = value != "0";
    else if (key == "edited_rung")
      r.edited_rung = value;
    else if (key == "rungs") {
      for (std::string_view rest = value; !rest.empty();) {
        const auto comma = rest.find(',');
        r.rungs.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
      }
    } else
      good = false;
    if (!good) fault(key, value);
  }
  if (ask.error.empty() && (!called || (!ask.roofline && ask.request.ladder.empty())))
    ask.error = "The lab asked for nothing that can be run.";
  return ask;
}

Service kernel_service(KernelWorker worker) {
  return [worker = std::move(worker)](const std::string& request, ServiceSink& sink, chapters::Progress& progress) {
    const KernelAsk ask = parse_kernel_ask(request);
    if (!ask.error.empty()) return sink.say(ask.error);
    if (ask.roofline)
      serve_roofs(worker, ask, sink, progress);
    else
      serve_run(worker, ask, sink, progress);
  };
}

}  // namespace app
