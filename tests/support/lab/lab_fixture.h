#pragma once
#include <memory>
#include <string_view>

#include "chapters/mechanism/registry.h"
#include "tests/support/lab/catalog_fixture.h"
#include "tests/support/ui/ui_driver.h"

/// A lab as a test takes it in hand: opened on the bundled catalog, inputs set and outputs read by key, its canvas
/// driven without the shell. Whatever is not there (a lab, a key, a choice) fails the test.
namespace lab_test {

using chapters::Lab;
using chapters::LabPtr;

/// `inputs` is a JSON object of inputs by key. Nothing is computed yet.
LabPtr open_lab(std::string_view id, std::string_view inputs = "{}");

void set(Lab& lab, std::string_view key, double value);
void choose(Lab& lab, std::string_view key, std::string_view id);

/// Of the last compute, which must have been feasible.
double out(const Lab& lab, std::string_view key);
/// Computes first.
double computed(Lab& lab, std::string_view key);
/// A number of a table among the outputs.
double cell(const Lab& lab, std::string_view table, std::size_t row, std::string_view key);

/// |value - expected| <= tolerance |expected|.
bool near(double value, double expected, double tolerance = 1e-9);

/// The lab's canvas in a window of its own size over the whole display, for a frame function.
void draw_canvas(Lab& lab);
/// Dark theme, scale 1: `set_up` of a UiDriver.
void dark_theme();

/// The canvas under a driver. As in the shell, what is drawn is computed of the inputs it is drawn with.
class Canvas {
 public:
  Canvas(Lab& lab, ImVec2 size);

 private:
  void frame();
  Lab& lab_;
  LabPtr computed_;

 public:
  support::UiDriver ui;  ///< last: it draws while it is made
};

}  // namespace lab_test
