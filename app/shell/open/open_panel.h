#pragma once
#include <imgui.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/shell/controls/chooser.h"
#include "app/shell/open/open_list.h"
#include "app/workspace/jobs.h"

namespace app {

struct Shell;
enum class ExportKind : std::uint8_t;

/// The panel in which a file is opened, or a place for an export is chosen: where the desktop has a chooser of its own,
/// that one asks, and this is its state meanwhile.
struct OpenPanel {
  bool open = false, just_opened = false;
  bool focus = false;  ///< the box is to have the keyboard in the next frame
  FileAsk ask;
  ExportKind kind{};
  char typed[4096] = {};  ///< opening: a path, or a part of a name; saving: the name
  FolderList list;
  std::string listed_folder, listed_part;  ///< what `list` is of
  bool listed_every = false, is_listed = false;
  std::string folder_words;  ///< the folder as it is written over the list
  /// A folder or a file at the left, one press away.
  struct Place {
    std::string label, path;
    bool folder = false;
  };
  std::vector<Place> places;
  int selected = 0;
  bool every_file = false;
  std::string error, replace;  ///< `replace`: the path of a file that is there, about which the person was asked

  Job chooser;
  std::shared_ptr<models::Result<std::string>> chosen;
};

/// Lets the person choose a file of their own for the lab that reads it.
void ask_for_file(Shell& shell);
/// Lets the person choose where an export goes; `name` is proposed.
void ask_where(Shell& shell, ExportKind kind, const std::string& name);

/// Each frame, above everything else.
void draw_open_panel(Shell& shell);
/// Asks whether the files that somebody's scenario, lesson or link names may be opened, or in which of several labs a
/// file, while one of them waits.
void draw_asked_files(Shell& shell);
/// While a file is being read for longer than a blink: its name, how far that is, and a button that stops it, above
/// `corner`, their lower right. Returns their height in px, 0 where there is nothing to show.
float draw_opening(Shell& shell, ImVec2 corner);

}  // namespace app
