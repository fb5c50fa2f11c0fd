#pragma once
#include <span>
#include <string_view>

#include "models/platform/release.h"

/// What acts on a part of the platform, as changes of a release that the same models then compute again.
namespace models::platform {

struct Technique {
  std::string_view id, name;
  Part part{};
  /// Makes the change; false, and nothing is changed, where it is in use already.
  bool (*apply)(ReleaseSetup& setup);
  std::string_view lab;  ///< that explains it: the id of a lab
};
std::span<const Technique> techniques();  ///< by part

}  // namespace models::platform
