#include <algorithm>

#include "chapters/debugging/hang/lab.h"
#include "chapters/described/recording_file.h"
#include "chapters/mechanism/file_name.h"
#include "chapters/mechanism/read_once.h"
#include "models/hang/recorded_hangs.h"
#include "widgets/number/number.h"

namespace chapters::debugging::hang {
namespace {

namespace hm = models::hang;

using Dumps = models::Result<std::vector<hm::FlightDump>>;

using DumpPtr = std::shared_ptr<const hm::FlightDump>;

/// A dump, unpacked where it is a gz.
models::Result<DumpPtr> read_fresh(const FileBytes& file) {
  using Read = models::Result<DumpPtr>;
  const auto text = whole_text_of(file, std::uint64_t{64} << 20,
                                  "The file is larger than 64 MiB: dump with a smaller ring, or without stacks.");
  if (!text) return Read::fail(text.error);
  auto dump = hm::read_flight_dump(*text);
  if (!dump) return Read::fail(std::move(dump.error));
  return Read::ok(std::make_shared<const hm::FlightDump>(std::move(*dump)));
}

models::Result<DumpPtr> read_dump(const FileInput& file, const Progress& progress) {
  auto read = read_once<hm::FlightDump>(file, progress, read_fresh);
  if (!read) read.error = std::string(file_name(file.path)) + ": " + read.error;
  return read;
}

Dumps read_files(const Inputs& in, const Progress& progress, std::string& notes) {
  std::vector<const FileInput*> files;
  if (!in.dumps.path.empty()) files.push_back(&in.dumps);
  for (const DumpFile& more : in.more_dumps)
    if (!more.file.path.empty()) files.push_back(&more.file);
  if (files.empty()) {
    const std::string rows = in.more_dumps.empty() ? "" : ", and no row below names a file";
    return Dumps::fail("No dump is chosen" + rows + ": open those of all ranks, or take a recorded job.");
  }
  std::vector<hm::FlightDump> out;
  std::int64_t unnamed = 0;
  for (const FileInput* file : files) {
    auto dump = read_dump(*file, progress);
    if (!dump) return Dumps::fail(std::move(dump.error));
    out.push_back(**dump);
    out.back().rank = hm::rank_of_file_name(file->path);
    if (out.back().rank < 0) {
      out.back().rank = static_cast<std::int64_t>(out.size()) - 1;
      ++unnamed;
    }
  }
  if (unnamed > 0) notes = "Files without a number at the end of their name are numbered as they were given.";
  return Dumps::ok(std::move(out));
}

std::vector<double> as_reals(const std::vector<std::int64_t>& ranks) { return {ranks.begin(), ranks.end()}; }

void fill_facts(const Run& run, Outputs& out) {
  const hm::FlightJob& job = *run.job;
  const hm::HangDiagnosis& d = run.found;
  out.fault = d.fault;
  out.culprit_ranks = as_reals(d.culprits);
  out.culprits = static_cast<std::int64_t>(d.culprits.size());
  if (d.culprits.size() == 1) out.first_culprit = static_cast<double>(d.culprits.front());
  out.decidable = d.decidable;
  out.hangs = d.hangs;
  if (d.sequence > 0) out.first_divergence = static_cast<double>(d.sequence);  // calls count from 1; 0 is a message
  if (d.group >= 0) out.divergence_group = job.groups[static_cast<std::size_t>(d.group)].description;
  out.ranks = job.world;
  out.missing_dumps = static_cast<std::int64_t>(job.missing.size());
  out.groups = static_cast<std::int64_t>(job.groups.size());
  for (const hm::FlightDump& dump : job.dumps) out.records += static_cast<std::int64_t>(dump.entries.size());
  out.waiting_ranks = std::count_if(d.waits.begin(), d.waits.end(), [](const hm::RankWait& w) { return w.entry >= 0; });
  if (d.rings_first >= 0) {
    out.rings_first = static_cast<double>(d.rings_first);
    out.ring_spread_s = static_cast<double>(d.ring_spread_ns) * 1e-9;
  }
  if (d.late.rank >= 0) {
    out.late_calls = static_cast<double>(d.late.times_last);
    out.late_s = static_cast<double>(d.late.largest_ns) * 1e-9;
  }
  out.stock = run.stock.kind;
  out.stock_ranks = as_reals(run.stock.ranks);
  out.stock_right = run.stock.ranks == d.culprits && d.decidable;
  for (const std::string& note : job.notes) out.notes += (out.notes.empty() ? "" : " ") + note;
}

std::string part_of(const hm::HangDiagnosis& d, std::int64_t rank, std::size_t dump) {
  if (std::find(d.culprits.begin(), d.culprits.end(), rank) != d.culprits.end()) return "to blame";
  if (!d.decidable && d.waits[dump].entry >= 0) return "waits, and may be to blame";
  return d.waits[dump].entry >= 0 ? "waits, innocent" : "waits for nobody";
}

void fill_rows(const Run& run, Outputs& out) {
  constexpr std::size_t max_listed = 256;
  const hm::FlightJob& job = *run.job;
  for (std::size_t i = 0; i < std::min(max_listed, job.dumps.size()); ++i) {
    const hm::FlightDump& dump = job.dumps[i];
    const hm::RankWait& wait = run.found.waits[i];
    RankRow row{dump.rank, static_cast<std::int64_t>(dump.entries.size()), {}, {}, part_of(run.found, dump.rank, i)};
    if (wait.entry >= 0) {
      const hm::FlightEntry& e = dump.entries[static_cast<std::size_t>(wait.entry)];
      row.last = job.group(e).description + " " + std::to_string(e.p2p ? e.p2p_sequence : e.sequence) + ": " +
                 call_words(job.call(e));
      row.waits_for = wait.waits_for.empty() ? "all are in it" : list_ranks(wait.waits_for);
      const auto& order = run.found.ring_order;
      const auto at = std::find(order.begin(), order.end(), dump.rank);
      if (at != order.end())
        row.rings_after_s =
            static_cast<double>(run.found.ring_after_ns[static_cast<std::size_t>(at - order.begin())]) * 1e-9;
    }
    out.rank_rows.push_back(std::move(row));
  }
}

}  // namespace

std::string list_ranks(const std::vector<std::int64_t>& ranks, std::size_t most) {
  std::string out;
  const std::size_t shown = ranks.size() <= most ? ranks.size() : most - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == ranks.size();
    out += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
  }
  if (shown < ranks.size()) out += " and " + std::to_string(ranks.size() - shown) + " more";
  return out;
}

std::string call_words(const hm::FlightCall& call) {
  const hm::Sizes& sizes = call.input_sizes.empty() ? call.output_sizes : call.input_sizes;
  std::string out = call.operation + (call.peers.empty() ? "" : " " + call.peers);
  if (!sizes.empty()) out += " of " + widgets::format_text(static_cast<double>(hm::numel(sizes)), "", 12);
  return out;
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  out.cost = models::hang::alarm_cost({.gpus = static_cast<double>(in.gpus),
                                       .timeout_s = in.timeout_s,
                                       .restart_s = in.restart_s,
                                       .hangs = in.hangs,
                                       .pauses = in.pauses,
                                       .pause_mean_s = in.pause_mean_s});
  std::vector<hm::FlightDump> dumps;
  if (in.which == Case::made_up) {
    const hm::HangJob job{.tensor_parallel = in.tensor_ranks,
                          .data_parallel = in.data_ranks,
                          .pipeline_parallel = in.stages,
                          .steps = in.steps,
                          .fault = in.planted,
                          .seed = in.seed,
                          .ahead = in.ahead,
                          .timeout_s = in.timeout_s};
    out.reason = hm::cannot_plant(job);
    if (!out.reason.empty()) return {std::move(out), nullptr};
    hm::SimulatedHang made = hm::simulate_hang(job);
    dumps = std::move(made.dumps);
    out.planted_ranks = as_reals(made.culprits);
  } else if (in.which == Case::files) {
    auto read = read_files(in, progress, out.notes);
    if (!read) {
      out.reason = std::move(read.error);
      return {std::move(out), nullptr};
    }
    dumps = std::move(*read);
  } else {
    dumps = hm::recorded_dumps(recorded_id(in.which));
  }
  auto job = hm::make_flight_job(std::move(dumps));
  if (!job) {
    out.reason = std::move(job.error);
    return {std::move(out), nullptr};
  }
  progress.fraction = 0.5;
  auto run = std::make_shared<Run>();
  run->job = std::make_shared<const hm::FlightJob>(std::move(*job));
  run->found = hm::diagnose_hang(*run->job);
  run->stock = hm::stock_verdict(*run->job);
  fill_facts(*run, out);
  fill_rows(*run, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::debugging::hang
