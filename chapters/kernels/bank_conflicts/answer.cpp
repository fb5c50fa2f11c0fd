#include <cmath>

#include "chapters/kernels/bank_conflicts/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::bank_conflicts {
namespace {

std::string figure_of(double n) { return widgets::figure(n, "", 9); }
std::string bytes_figure(double n) { return widgets::figure(n, "B", 4); }

/// A tile of fewer than 32 rows has no column for 32 lanes, and a short row has not enough for them.
bool goes_on(const Inputs& in, const Outputs& out) {
  return in.access == Access::column ? in.rows < 32 : out.row_bytes < 32 * out.bytes_per_lane;
}

std::string subject(const Inputs& in, const Outputs& out) {
  const std::string column = " column " + figure_of(static_cast<double>(in.column));
  switch (in.access) {
    case Access::row:
      return "Row " + figure_of(static_cast<double>(in.row)) + (goes_on(in, out) ? " and below take " : " takes ");
    case Access::column:
      return "Reading" + column + (goes_on(in, out) ? " and those after it takes " : " takes ");
    case Access::ldmatrix:
      return "An ldmatrix.x4 at" + column + " takes ";
    case Access::mma_rows:
      return "An mma access of 8 rows at" + column + " takes ";
    case Access::mma_columns:
      return "An mma access of 4 rows at" + column + " takes ";
    case Access::expression:
      return "Your expression takes ";
    case Access::addresses:
      return "Your addresses take ";
  }
  return {};
}

std::string wavefronts(std::int64_t n) {
  return figure_of(static_cast<double>(n)) + (n == 1 ? " wavefront" : " wavefronts");
}

/// What the access costs as it is written.
std::string verdict(const Inputs& in, const Outputs& out) {
  const std::string cost = subject(in, out) + wavefronts(out.wavefronts) + " as written";
  if (out.excess == 0) return cost + ", and no layout needs fewer.";
  const std::string least = cost + ", where " + figure_of(static_cast<double>(out.ideal)) + " would do: ";
  if (out.plain.phases.size() == 1) return least + figure_of(static_cast<double>(out.ways)) + " words share a bank.";
  return least + "conflicts are up to " + figure_of(static_cast<double>(out.ways)) + "-way.";
}

std::string padded_part(const Inputs& in, const Outputs& out) {
  if (in.padding == 0) return "No padding is set";
  if (!out.padded.reason.empty())
    return "Rows padded to " + bytes_figure(static_cast<double>(out.pitch_bytes)) + " are not aligned to " +
           bytes_figure(static_cast<double>(out.bytes_per_lane));
  return "Padded it takes " + figure_of(out.padded.wavefronts) + ", for " +
         widgets::figure(out.padding_bytes, "B", 4, widgets::Prefix::binary) + " per tile";
}

std::string swizzled_part(const Inputs& in, const Outputs& out) {
  const bool fitted = in.swizzle == SwizzleKind::fitted && out.swizzled.reason.empty();
  if (fitted && out.swizzled.wavefronts > static_cast<double>(out.ideal))
    return "swizzled it takes " + figure_of(out.swizzled.wavefronts) + ", the fewest that an XOR reaches.";
  if (out.flip_mask == 0) return "the XOR flips no bit.";
  if (!out.swizzled.reason.empty())
    return out.unit_bytes < out.bytes_per_lane ? "this XOR tears a lane's bytes apart." : "this XOR leaves the row.";
  return "swizzled it takes " + figure_of(out.swizzled.wavefronts) + " and wastes nothing.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  return verdict(in, out) + "\n" + padded_part(in, out) + "; " + swizzled_part(in, out);
}

}  // namespace chapters::kernels::bank_conflicts
