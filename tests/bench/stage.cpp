#include "tests/bench/stage.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/content/load_catalog.h"
#include "chapters/mechanism/catalog.h"
#include "tests/bench/allocations.h"
#include "tests/support/base/paths.h"
#include "tests/support/ui/full_window.h"

namespace bench {

const std::string& assets() {
  static const std::string folder = [] {
    std::string path = support::source_file("assets");
    auto loaded = app::load_catalog(path, {});
    if (!loaded.errors.empty()) throw std::runtime_error(loaded.errors.front());
    chapters::set_catalog(loaded.catalog);
    return path;
  }();
  return folder;
}

models::Result<app::UserPaths> nowhere() {
  return models::Result<app::UserPaths>::fail("Nothing is kept while time is measured.");
}

Canvas::Canvas(ImVec2 size) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = size;
  io.DeltaTime = 1.0f / 60.0f;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, ui_.fonts()));
  widgets::apply_to_imgui(widgets::theme());
}

void Canvas::begin() {
  ImGui::NewFrame();
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, ui_.fonts()));
  widgets::apply_to_imgui(widgets::theme());
}

void Canvas::end() {
  ImGui::Render();
  support::accept_textures();
}

Stage::Stage(std::string_view lab, ImVec2 size) : canvas_(size) {
  static const app::Content content = app::load_content(assets());  // read once, however many stages there are
  workspace_ = std::make_unique<app::Workspace>(content, nowhere());
  workspace_->messages().clear();
  if (!workspace_->open(lab)) throw std::runtime_error("there is no lab " + std::string(lab));
  workspace_->finish();
  shell_ = std::make_unique<app::Shell>(*workspace_, app::Host{.animates = true});
}

Stage::~Stage() = default;

void Stage::frame() {
  canvas_.begin();
  app::draw_shell(*shell_);
  canvas_.end();
}

void Stage::settle(int least) {
  constexpr int most = 100'000, at_rest = 20;
  // A worker that has handed its answer over may still allocate while it goes to rest.
  const auto busy = [&] { return shell_->animating || workspace_->jobs.busy() > 0; };
  // What a worker hands over is taken up in a frame of its own, which may ask the next thing of another.
  int quiet = 0;
  for (int i = 0; i < most && (i < least || quiet < at_rest); ++i) {
    frame();
    quiet = busy() ? 0 : quiet + 1;
  }
  if (busy()) throw std::runtime_error("the lab never comes to rest");
}

}  // namespace bench
