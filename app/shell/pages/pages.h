#pragma once
#include <string_view>

namespace app {

struct Shell;
/// The bar over home and the glossary: the logo, which leads home, the page's title, the palette and help. Returns its
/// height in pixels.
float draw_page_bar(Shell& shell, std::string_view title, float width);
/// The logo at the cursor as a button that leads home, `size` pixels wide and high; with the name when that fits.
void draw_logo(Shell& shell, float width, float height);

}  // namespace app
