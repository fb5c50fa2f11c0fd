#pragma once
#include <span>
#include <string_view>

#include "chapters/mechanism/lab.h"

namespace chapters {

struct LabEntry {
  std::string_view id;  ///< "chapter/lab"
  LabPtr (*make)();     ///< a new copy with default Inputs, not yet computed, that remembers nothing
};

struct Chapter {
  std::string_view slug;
  std::string_view ordinal;  ///< "01"
  std::string_view title;
  std::span<const LabEntry> labs;
};

/// The table of contents in teaching order.
std::span<const Chapter> all_chapters();
/// Every lab of every chapter, hidden ones last.
std::span<const LabEntry> all_labs();
/// True when there is a lab with that id. Makes none.
bool has_lab(std::string_view id);
/// A new copy of the lab with that id and default Inputs, not yet computed; null if there is none. All that are made
/// here share what the lab remembers between computations (networks trained before). Safe from any thread.
LabPtr make_lab_by_id(std::string_view id);

}  // namespace chapters
