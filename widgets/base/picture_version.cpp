#include "widgets/base/picture_version.h"

#include <utility>

namespace widgets {
namespace {

/// Painting is the business of one thread, as Dear ImGui is.
std::uint64_t painted_version = 0;

}  // namespace

std::uint64_t picture_version() { return painted_version; }

PaintsVersion::PaintsVersion(std::uint64_t version) : before_(std::exchange(painted_version, version)) {}
PaintsVersion::~PaintsVersion() { painted_version = before_; }

}  // namespace widgets
