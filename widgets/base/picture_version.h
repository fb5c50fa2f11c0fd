#pragma once
#include <cstdint>

/// Which version of a lab's picture is being painted. The stage says it, so that nobody who paints has to: curves and
/// tables that come from the picture are read again only when it is another.
namespace widgets {

/// 0: what is painted belongs to no picture, and is read every frame.
std::uint64_t picture_version();

/// While it lives, what is painted belongs to this version.
class PaintsVersion {
 public:
  explicit PaintsVersion(std::uint64_t version);
  ~PaintsVersion();
  PaintsVersion(const PaintsVersion&) = delete;
  PaintsVersion& operator=(const PaintsVersion&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace widgets
