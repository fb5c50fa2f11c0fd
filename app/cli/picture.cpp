#include "app/cli/picture.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iterator>
#include <thread>

#include "app/shell/stage_area.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

models::Status read_size(const std::string& size, Picture& p) {
  const auto x = size.find('x');
  const bool read = x != std::string::npos && parse_int(std::string_view(size).substr(0, x), p.width) &&
                    parse_int(std::string_view(size).substr(x + 1), p.height);
  if (read && p.width >= 320 && p.height >= 240 && p.width <= 16384 && p.height <= 16384) return models::Status::ok();
  return models::Status::fail("--size is \"" + size.substr(0, 40) +
                              "\": WIDTHxHEIGHT from 320x240 to 16384x16384 is allowed, such as 1600x1000.");
}

models::Status read_theme(const std::string& theme, Picture& p) {
  p.light = theme == "light";
  if (p.light || theme == "dark") return models::Status::ok();
  return models::Status::fail("--theme is \"" + theme.substr(0, 40) + "\": dark or light is allowed.");
}

models::Status read_scale(const std::string& scale, Picture& p) {
  const auto parsed = widgets::parse_quantity(scale, "");
  p.scale = parsed.value;
  if (parsed.error.empty() && p.scale >= 0.5 && p.scale <= 4) return models::Status::ok();
  return models::Status::fail("--scale is \"" + scale.substr(0, 40) + "\": a number from 0.5 to 4 is allowed.");
}

models::Status read_drawer(const std::string& tab, Picture& p) {
  static constexpr std::string_view tabs[] = {"concept", "design",   "code",    "debug",   "frontier",
                                              "claims",  "measured", "predict", "explore", "notes"};
  const auto at = std::find(std::begin(tabs), std::end(tabs), tab);
  p.drawer = static_cast<int>(at - std::begin(tabs));
  if (at != std::end(tabs)) return models::Status::ok();
  return models::Status::fail(
      "--drawer is \"" + tab.substr(0, 40) +
      "\": allowed are concept, design, code, debug, frontier, claims, measured, predict, explore and notes.");
}

}  // namespace

bool parse_int(std::string_view s, int& out) {
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), out);
  return ec == std::errc() && end == s.data() + s.size();
}

models::Result<Picture> picture_of(const Arguments& a) {
  Picture p;
  p.presentation = a.has("--presentation");
  p.alone = a.has("--picture");
  p.canvas_only = a.has("--canvas") || p.alone;
  struct Reading {
    const char* name;
    models::Status (*read)(const std::string&, Picture&);
  };
  // Where several are wrong, the last one's sentence is said.
  for (const Reading& option : {Reading{"--drawer", read_drawer}, Reading{"--scale", read_scale},
                                Reading{"--theme", read_theme}, Reading{"--size", read_size}})
    if (a.has(option.name))
      if (auto read = option.read(a.value(option.name), p); !read)
        return models::Result<Picture>::fail(std::move(read.error));
  if (p.alone && p.presentation)
    return models::Result<Picture>::fail("--picture and --presentation are two pictures: leave one of them out.");
  if (p.alone && !a.has("--size")) {  // twice the scale is the same picture in twice the pixels
    p.width = static_cast<int>(std::lround(p.width * p.scale));
    p.height = static_cast<int>(std::lround(p.height * p.scale));
  }
  return models::Result<Picture>::ok(p);
}

void draw_settled(Headless& headless, Shell& shell, const Picture& p, widgets::Record* record) {
  shell.workspace.messages().clear();
  shell.presentation = p.presentation;
  shell.hide_chrome = p.canvas_only;
  shell.picture_alone = p.alone;
  shell.drawer_open = p.drawer >= 0 || opens_drawer({}, static_cast<float>(p.height / p.scale));
  if (p.drawer >= 0) shell.drawer = static_cast<Drawer>(p.drawer);
  // Plots and prose lay themselves out over the first frames; a sweep in the drawer is a job that ends soon.
  constexpr int settle = 4, most = 600;
  for (int i = 0; i < most; ++i) {
    // What home says of today is dealt in a job.
    const bool deals = shell.page != Page::lab && shell.workspace.jobs.busy() > 0;
    if (deals) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const bool last = i >= settle && !shell.animating && !deals;
    headless.begin_frame();
    const float scale = interface_scale(p.presentation, p.scale, p.height);
    widgets::set_theme(
        widgets::make_theme(p.light ? widgets::Mode::light : widgets::Mode::dark, scale, headless.fonts()));
    widgets::apply_to_imgui(widgets::theme());
    shell.record = last || i + 1 == most ? record : nullptr;
    draw_shell(shell);
    headless.end_frame();
    shell.record = nullptr;
    if (last) break;
  }
}

std::unique_ptr<Workspace> fresh_workspace() {
  const auto assets = load_assets();  // it succeeded when the program began
  return std::make_unique<Workspace>(load_content(assets ? *assets : std::string()),
                                     models::Result<UserPaths>::fail("Nothing is kept while a picture is rendered."));
}

}  // namespace app::cli
