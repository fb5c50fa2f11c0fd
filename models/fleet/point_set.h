#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Configurations as points: what was measured of each, one column an axis.
namespace models::fleet {

/// A column of numbers. What a point lacks is NaN.
struct PointAxis {
  std::string key;          ///< as the file's first line has it
  std::string label, unit;  ///< as a person reads them; the label is the key where the file says no more
  bool high = true;         ///< more of it is better
  bool guessed = false;     ///< that less is better is read from its name: the file says nothing
  bool log = false;         ///< seen by factors: positive, and from least to most a factor of four or more
  std::vector<double> values;
  std::size_t bad_line = 0;  ///< not 0: the first line on which it is no number; then it is no axis
};

struct PointSet {
  std::string title, source, date, note;
  std::vector<PointAxis> axes;
  std::vector<std::string> names;
  /// Values of the column "quality" (or group, series, family) in the order of the file: each has a front of its own.
  /// One without a name where there is no such column.
  std::vector<std::string> qualities;
  std::vector<std::uint16_t> quality_of;  ///< by point
  std::string start, against;             ///< qualities to begin with; empty: the file says nothing

  std::size_t size() const { return names.size(); }
  const PointAxis* axis(std::string_view key) const;  ///< null when there is none
};

inline constexpr std::size_t max_points = 5000, max_point_columns = 32, max_point_qualities = 200,
                             max_points_bytes = std::size_t{2} << 20, max_point_name = 96;

/// Reads CSV: commas, semicolons or tabs, quotes as in RFC 4180 on one line. The first line names the columns, the
/// first column is the name of each point. Lines before it that begin with "#" may say more: "# axis: key | label |
/// unit | low | log". Empty cells, and numbers that are not finite, are missing. Fails in one sentence with the line
/// where something is wrong.
Result<PointSet> read_point_set(std::string_view text);

/// The text of a set of assets/frontier by its file's name; empty where there is none.
std::string_view published_points(std::string_view name);

}  // namespace models::fleet
