#pragma once
#include <functional>
#include <memory>
#include <string>

#include "tests/support/lab/shell_driver.h"

/// What must hold while a monkey walks and afterwards. Each throws std::runtime_error with what does not.
namespace support {

/// Inputs and view of the open lab are what its descriptions allow; its outputs are finite, or there is a reason.
void check_values(app::Workspace& workspace);

/// The frame drawn last has no two items under one id, and no vertex that is not a number.
void check_ids(const ImGuiContext& context);
void check_vertices();

/// After Escape was pressed several times: no dialog, palette or page stands in the way any more.
void check_nothing_asks(const app::Shell& shell);

/// What is kept, to be compared with what is read again.
struct KeptState {
  app::store::Settings settings;
  app::store::Progress progress;
  app::store::Kept kept;
  app::store::Recent recent;
  app::store::Resume resume;
  app::store::Files files;
  std::map<std::string, std::string, std::less<>> notes;
  std::string lab, inputs, view;
  bool drawer_open = false;
};
/// The workspace must have been saved.
KeptState kept_state(app::Workspace& workspace);
/// `again` is a workspace that was made anew on the same folders.
void check_read_again(const KeptState& kept, app::Workspace& again);

/// Undoes everything in the open lab, which must lead to `start` unless more was edited than is kept, and redoes it,
/// which must lead back. Returns how many steps were undone.
int check_undo(app::Workspace& workspace, const std::string& start);
/// What undo goes through, as text.
std::string undoable(app::Workspace& workspace);

}  // namespace support
