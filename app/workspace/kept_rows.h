#pragma once
#include <string>
#include <string_view>

#include "app/store/kept.h"
#include "chapters/mechanism/field.h"
#include "models/base/result.h"

/// Between what is kept on disk and the tables of labs whose Spec says `kept`.
namespace app {

/// Fills the table with the latest kept rows it has room for. Fails when some could not be read: those stay in the
/// file, and the table has the others.
models::Status fill_from_kept(const chapters::Field& table, const store::Kept& kept);

/// Adds one row, whose cells these are; true when it was new.
bool keep_row(const chapters::Fields& cells, std::string_view table, store::Kept& kept);

/// Adds the table's rows to what is kept; true when there were new ones.
bool add_to_kept(const chapters::Field& table, store::Kept& kept);

}  // namespace app
