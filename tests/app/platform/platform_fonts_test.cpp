#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <fstream>

#include "app/platform/fonts.h"
#include "tests/support/base/files.h"

namespace fs = std::filesystem;

namespace {

struct Context {
  ImGuiContext* context = ImGui::CreateContext();
  Context() { ImGui::GetIO().IniFilename = nullptr; }
  ~Context() { ImGui::DestroyContext(context); }
};

}  // namespace

TEST_CASE("without fonts in the folders, every face is Dear ImGui's own") {
  const Context context;
  const widgets::Fonts fonts = app::load_fonts(*ImGui::GetIO().Fonts, {"/nonexistent"});
  CHECK(fonts.sans != nullptr);
  CHECK(fonts.sans_bold == fonts.sans);
  CHECK(fonts.mono == fonts.sans);
  CHECK(ImGui::GetIO().Fonts->Fonts.Size == 1);
}

TEST_CASE("a file that is no font is passed over, whatever its name") {
  const support::Folder own;
  const fs::path& folder = own.path;
  fs::create_directories(folder / "Inter-SemiBold.otf");  // a folder by that name
  std::ofstream(folder / "Inter-Regular.otf") << "<html>not found</html>";
  std::ofstream(folder / "JetBrainsMono-Regular.ttf");
  CHECK(app::find_font("Inter-Regular.otf", {folder}).empty());
  CHECK(app::find_font("Inter-SemiBold.otf", {folder}).empty());
  CHECK(app::find_font("JetBrainsMono-Regular.ttf", {folder}).empty());
}

TEST_CASE("RIDGELINE_FONTS comes first, folder by folder") {
  ::setenv("RIDGELINE_FONTS", "/first:/second", 1);
  const auto folders = app::font_folders();
  ::unsetenv("RIDGELINE_FONTS");
  REQUIRE(folders.size() > 2);
  CHECK(folders[0] == "/first");
  CHECK(folders[1] == "/second");
}

TEST_CASE("installed Inter and JetBrains Mono load as three faces with the ascents that the SVG export assumes") {
  const auto folders = app::font_folders();
  if (app::find_font("Inter-Regular.otf", folders).empty() ||
      app::find_font("JetBrainsMono-Regular.ttf", folders).empty())
    SKIP("fonts-inter and fonts-jetbrains-mono are not installed");
  const Context context;
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
  const widgets::Fonts fonts = app::load_fonts(*ImGui::GetIO().Fonts, folders);
  CHECK(fonts.sans_bold != fonts.sans);
  CHECK(fonts.mono != fonts.sans);
  ImGui::GetIO().DisplaySize = {100, 100};
  ImGui::NewFrame();
  // hhea of Inter 4.0: 2728 / 3408 of the line; of JetBrains Mono 2.242: 1020 / 1320.
  CHECK(fonts.sans->GetFontBaked(100)->Ascent == 81.0f);
  CHECK(fonts.mono->GetFontBaked(100)->Ascent == 78.0f);
  CHECK(fonts.mono->CalcTextSizeA(20, 1e9f, 0, "iiii").x == fonts.mono->CalcTextSizeA(20, 1e9f, 0, "WWWW").x);
  // Each face fills the other's gaps: a ceiling bracket in Inter, a superscript minus in JetBrains Mono.
  CHECK(fonts.sans->IsGlyphInFont(0x2308));
  CHECK(fonts.sans_bold->IsGlyphInFont(0x2308));
  CHECK(fonts.mono->IsGlyphInFont(0x207B));
  ImGui::EndFrame();
}
