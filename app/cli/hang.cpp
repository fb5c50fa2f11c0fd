#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/cli/table.h"
#include "app/platform/file_bytes.h"
#include "app/platform/json.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/file_set.h"
#include "chapters/debugging/hang/lab.h"

/// Which rank holds a job up, from the dumps of its ranks.
namespace app::cli {
namespace {

namespace hm = models::hang;
namespace hang_lab = chapters::debugging::hang;

/// Paths of files, those in folders too.
models::Result<std::vector<std::string>> dump_paths(const std::vector<std::string>& words) {
  using Paths = models::Result<std::vector<std::string>>;
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(word, ignored)) {
      out.push_back(word);
      continue;
    }
    auto inside = files_of_folder(word, {chapters::FileKind::flight_recorder});
    if (!inside) return inside;
    out.insert(out.end(), inside->begin(), inside->end());
  }
  return Paths::ok(std::move(out));
}

/// "rank 2", "ranks 1, 2 and 3".
std::string ranks_words(const std::vector<std::int64_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + hang_lab::list_ranks(ranks, 16);
}

Json ranks_json(const std::vector<std::int64_t>& ranks) { return Json(ranks); }

Json hang_json(const hang_lab::Run& run) {
  const hm::FlightJob& job = *run.job;
  const hm::HangDiagnosis& d = run.found;
  Json j = {{"fault", hm::fault_id(d.fault)},
            {"hangs", d.hangs},
            {"decidable", d.decidable},
            {"culprit_ranks", ranks_json(d.culprits)},
            {"first_divergence", Json(nullptr)},
            {"rings_first", d.rings_first < 0 ? Json(nullptr) : Json(d.rings_first)},
            {"ring_spread_ns", d.ring_spread_ns},
            {"ranks_without_dump", ranks_json(job.missing)},
            {"notes", job.notes},
            {"ranks", Json::array()},
            {"stock_analyzer", {{"ranks", ranks_json(run.stock.ranks)}, {"matched", run.stock.matched}}}};
  if (d.group >= 0)
    j["first_divergence"] = {{"group", job.groups[static_cast<std::size_t>(d.group)].description},
                             {"collective_seq_id", d.sequence > 0 ? Json(d.sequence) : Json(nullptr)}};
  for (std::size_t i = 0; i < job.dumps.size(); ++i) {
    const hm::FlightDump& dump = job.dumps[i];
    Json rank = {{"rank", dump.rank},
                 {"entries", dump.entries.size()},
                 {"first_record_id", dump.entries.empty() ? Json(nullptr) : Json(dump.entries.front().record)},
                 {"waits_for", ranks_json(d.waits[i].waits_for)},
                 {"waits_in", Json(nullptr)}};
    if (d.waits[i].entry >= 0) {
      const hm::FlightEntry& e = dump.entries[static_cast<std::size_t>(d.waits[i].entry)];
      rank["waits_in"] = {{"group", job.group(e).description},
                          {"collective_seq_id", e.sequence},
                          {"p2p_seq_id", e.p2p_sequence},
                          {"call", hang_lab::call_words(job.call(e))}};
    }
    j["ranks"].push_back(std::move(rank));
  }
  return j;
}

/// What to do next about a fault.
std::string_view next_step(hm::HangFault fault) {
  switch (fault) {
    case hm::HangFault::none:
      return "Nothing is open: look at the times of the steps, or take the dumps later.";
    case hm::HangFault::straggler:
      return "Look at what that rank does before its call: its loader, its clock rate, its neighbours.";
    case hm::HangFault::not_arrived:
      return "Take a stack of that process: the line that it is in is the cause.";
    case hm::HangFault::died:
      return "Look into that rank's log and its node's: memory, a crash, a lost machine.";
    case hm::HangFault::undecided:
      return "Compare roots and reduce operations in the code, then look at the network below the calls.";
    case hm::HangFault::group_order:
      return "Make all ranks use their groups in one order.";
    case hm::HangFault::p2p_order:
      return "Pair every send with its receive in one order on both sides, or group them.";
    default:
      return "Find the branch that this rank took in its script, and the others did not, before that call.";
  }
}

void print_hang(std::ostream& out, const hang_lab::Outputs& o, const hang_lab::Run& run) {
  std::string answer = hang_lab::answer_of({}, o);
  std::erase(answer, '`');
  out << answer << "\n";
  std::vector<std::vector<std::string>> rows{{"rank", "calls", "waits in", "waits for", "part", ""}};
  for (const hang_lab::RankRow& r : o.rank_rows)
    rows.push_back({std::to_string(r.rank), std::to_string(r.calls), r.last.empty() ? "-" : r.last,
                    r.waits_for.empty() ? "-" : r.waits_for, r.part, ""});
  print_table(out, rows);
  if (!run.job->missing.empty()) out << "  no dump of " << ranks_words(run.job->missing) << "\n";
  const auto& stock = run.stock.ranks;
  out << "  PyTorch's own analyzer " << (stock.empty() ? "names no rank" : "names " + ranks_words(stock))
      << " first.\n";
  for (const std::string& note : run.job->notes) out << "  " << note << "\n";
  const bool too_few = !run.found.decidable && 2 * run.job->missing.size() > static_cast<std::size_t>(o.ranks);
  out << "  Next: "
      << (too_few ? "Collect the dumps of all ranks: each is written where its process ran." : next_step(o.fault))
      << "\n";
}

}  // namespace

int hang(const Arguments& a, const Streams& s) {
  if (a.words.empty())
    return complain(s,
                    "Name the dumps of all ranks, or a folder of them: ridgeline hang DUMP... reads JSON and pickle.");
  const auto paths = dump_paths(a.words);
  if (!paths) return complain(s, paths.error);
  hang_lab::Inputs in;
  in.which = hang_lab::Case::files;
  for (std::size_t i = 0; i < paths->size(); ++i) {
    auto bytes = read_file_bytes((*paths)[i]);
    if (!bytes) return complain(s, bytes.error);
    chapters::FileInput file{(*paths)[i], {}, std::move(*bytes)};
    if (i == 0)
      in.dumps = std::move(file);
    else
      in.more_dumps.push_back({std::move(file)});
  }
  chapters::Progress progress;
  const auto computed = hang_lab::compute(in, progress);
  if (!computed.facts.reason.empty()) return complain(s, computed.facts.reason);
  if (a.has("--json"))
    s.out << to_text(hang_json(*computed.run), 2) << "\n";
  else
    print_hang(s.out, computed.facts, *computed.run);
  return 0;
}

}  // namespace app::cli
