#pragma once
#include <filesystem>
#include <string>

#include "chapters/mechanism/lab.h"

/// A lab's scenario for another machine: models, chips and networks of one's own, and small files, go along.
namespace app {

struct HandedOn {
  std::string text;
  std::string notice;  ///< one sentence on what another machine will miss; empty: nothing
};

/// "ridgeline://roofline/roofline?chip=b200_sxm", with what differs from the lab's defaults.
HandedOn link_to_hand_on(const chapters::Lab& lab);

/// The scenario as the text of a file in `folder`: of files that it does not carry, those beneath the folder get a path
/// relative to it.
HandedOn scenario_to_hand_on(const chapters::Lab& lab, const std::filesystem::path& folder);

}  // namespace app
