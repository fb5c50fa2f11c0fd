#pragma once
#include <memory>
#include <string_view>

#include "app/cli/cli.h"
#include "app/platform/headless.h"
#include "app/shell/shell.h"

/// How a picture without a display is asked for and drawn.
namespace app::cli {

struct Picture {
  int width = 1600, height = 1000;  ///< pixels
  bool light = false, presentation = false, canvas_only = false;
  bool alone = false;  ///< the panel that answers, and nothing around it
  double scale = 1;
  int drawer = -1;
};

/// What --size, --theme, --scale, --drawer, --canvas, --picture and --presentation say. Without --size a picture alone
/// has `scale` times as many pixels each way.
models::Result<Picture> picture_of(const Arguments& a);

/// Draws the workspace's open lab until layouts and jobs have settled.
void draw_settled(Headless& headless, Shell& shell, const Picture& p, widgets::Record* record);

/// A workspace of which nothing is kept.
std::unique_ptr<Workspace> fresh_workspace();

/// All of `s` as a whole number; false where it is none.
bool parse_int(std::string_view s, int& out);

}  // namespace app::cli
