#include "app/scenario/hand_on.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "app/scenario/carried_file.h"
#include "app/scenario/link.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/scenario/sentences.h"

namespace app {
namespace {

std::string kib(std::size_t bytes) { return std::to_string(bytes >> 10) + " KiB"; }

/// "a, b" in quotes of those with a path, or of those without.
std::string names_of(const std::vector<LeftFile>& files, bool without_path) {
  std::vector<std::string> names;
  for (const LeftFile& file : files)
    if (file.has_no_path == without_path) names.push_back("\"" + file.name + "\"");
  return sentence_list(names, 3);
}

/// What of the learner's own there is room for, and the names of the rest.
std::vector<std::string> carry_own(const chapters::Lab& lab, std::size_t& left, Json& values) {
  std::vector<const OwnEntry*> carried;
  std::vector<std::string> rest;
  for (const OwnEntry* entry : own_used(lab.inputs())) {
    if (entry->text.size() > left) {
      rest.push_back("\"" + excerpt(entry->id) + "\"");
      continue;
    }
    left -= entry->text.size();
    carried.push_back(entry);
  }
  if (!carried.empty()) values[own_key] = own_to_json(carried);
  return rest;
}

}  // namespace

HandedOn link_to_hand_on(const chapters::Lab& lab) {
  HandedOn out;
  Json values = changed_inputs(lab);
  std::size_t left = max_link_bytes;
  const auto files = carry_files(lab.inputs(), left, left, values);
  const auto own = carry_own(lab, left, values);
  out.text = "ridgeline://" + link_with(lab.info().id, values);
  const std::string limit = ": a link carries texts up to " + kib(max_link_bytes) + ", a saved scenario up to " +
                            kib(max_carried_bytes) + " each.";
  if (const std::string paths = names_of(files, false); !paths.empty())
    out.notice = "The link names " + paths + " by its path on this machine, which no other has" + limit;
  else if (const std::string lost = names_of(files, true); !lost.empty())
    out.notice = "The link leaves out " + lost + limit;
  else if (!own.empty())
    out.notice =
        "The link names " + sentence_list(own, 3) + " of your own, which another machine does not have" + limit;
  return out;
}

HandedOn scenario_to_hand_on(const chapters::Lab& lab, const std::filesystem::path& folder) {
  HandedOn out;
  Json scenario = scenario_to_json(lab);
  std::size_t left = max_scenario_bytes;
  const auto files = carry_files(lab.inputs(), max_carried_bytes, left, scenario["inputs"]);
  make_paths_relative(lab.inputs(), scenario["inputs"], folder.empty() ? std::filesystem::path(".") : folder);
  out.text = to_text(scenario, 2) + "\n";
  if (const std::string paths = names_of(files, false); !paths.empty())
    out.notice = "The scenario names " + paths + " by its path alone, since it carries texts up to " +
                 kib(max_carried_bytes) + ": send that file along.";
  return out;
}

}  // namespace app
