#pragma once
#include "app/content/load_catalog.h"
#include "tests/support/base/effort.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

/// The bundled labs and content in the whole interface, of a person whose folders are temporary.
struct Opened {
  explicit Opened(const char* lab = "roofline/roofline", bool real_fonts = false)
      : d(content(), paths, {1280, 800}, real_fonts) {
    if (!d.workspace.open(lab)) throw std::runtime_error(std::string("no lab ") + lab);
    d.workspace.messages().clear();
    d.workspace.settings.rail = app::store::Settings::Rail::open;  // tests press its rows in a window of any width
    d.shell.unfold_groups = true;                                  // tests reach every control by its label
    d.ui.frames(3);
  }

  static app::Content content() {
    if (chapters::catalog().chips.empty())
      chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    app::Content c = support::bundled_content();
    c.errors.clear();  // what is missing there is for the content's own tests
    return c;
  }

  support::Folder folder;
  models::Result<app::UserPaths> paths =
      models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"});
  support::ShellDriver d;
  support::UiDriver& ui = d.ui;
  app::Workspace& w = d.workspace;

  /// Presses these one after the other and draws two frames after each.
  void press_each(std::initializer_list<std::string_view> labels) {
    for (const std::string_view label : labels) {
      ui.click(label);
      ui.frames(2);
    }
  }
  /// Presses these, of which the last opens a list, types into it and presses the option which that finds.
  void choose(std::initializer_list<std::string_view> labels, std::string_view typed, std::string_view option) {
    press_each(labels);
    ui.type(typed);
    ui.frames(2);
    ui.click(option);
  }
  double in(const char* key) { return d.input(key).number(); }
  std::string chosen(const char* key) { return std::string(d.input(key).choice_id()); }
  double out(const char* key) { return d.output(key).number(); }
};
