#include <catch2/catch_test_macros.hpp>

#include "app/platform/fonts.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/shell_driver.h"

// The marks that answer a lab's question never drop: not on a projector, and not above an open drawer. With the real
// fonts, since widths decide.

using namespace support;

namespace {

/// "time curve, memory strips" as its parts.
std::vector<std::string_view> names_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    if (!name.empty()) out.push_back(name);
  }
  return out;
}

struct Screen {
  ImVec2 size;
  bool presentation;
};

constexpr Screen screens[] = {
    {{1280, 720}, true}, {{1366, 768}, true}, {{1440, 900}, true}, {{1280, 800}, false}, {{1920, 1080}, true}};

void look(ShellDriver& d, const std::string& state) {
  for (const Screen& screen : screens) {
    d.shell.presentation = screen.presentation;
    d.shell.drawer_open = !screen.presentation;
    d.ui.resize(screen.size);
    d.settle();
    const widgets::StageView& stage = app::stage_view(d.shell);
    if (!d.workspace.lab().reason().empty()) return;
    REQUIRE_FALSE(stage.specs.empty());
    const auto marks = names_of(stage.specs[widgets::answering_panel(stage.specs)].marks);
    INFO(state << " at " << screen.size.x << "x" << screen.size.y
               << (screen.presentation ? " in presentation" : " above the drawer"));
    CHECK_FALSE(marks.empty());
    for (const std::string_view mark : marks) {
      INFO("\"" << mark << "\" is not drawn");
      CHECK(std::find(stage.drawn.begin(), stage.drawn.end(), mark) != stage.drawn.end());
    }
  }
}

}  // namespace

TEST_CASE("every lab: the marks that answer are drawn on every projector and above an open drawer") {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      ShellDriver d(bundled_content(), nowhere(), {1280, 720}, true);
      REQUIRE(d.workspace.open(entry.id));
      if (d.workspace.lab().info().hidden) continue;
      compute_once(d.workspace);
      d.settle();
      look(d, "default");
      if (sanitized()) continue;  // sizes and states are looked at without; here addresses are
      const auto& presets = d.workspace.content.of(entry.id).presets;
      for (std::size_t i = 0; i < presets.size(); ++i) {
        REQUIRE(d.workspace.apply_preset(presets[i]));
        compute_once(d.workspace);
        d.settle();
        look(d, "preset \"" + presets[i].name + "\"");
      }
    }
}
