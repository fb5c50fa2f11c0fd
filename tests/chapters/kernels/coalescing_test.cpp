#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/base/paths.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

/// "32+16*lane ffff" as the list that it stands for; a list stays.
std::string listed(const std::string& text) {
  const std::size_t by_lane = text.find("*lane ");
  if (by_lane == std::string::npos) return text;
  std::size_t read = 0;
  const long long first = std::stoll(text, &read), step = std::stoll(text.substr(read));
  const unsigned long mask = std::stoul(text.substr(by_lane + 6), nullptr, 16);
  std::string out;
  for (long long lane = 0; lane < 32; ++lane)
    out += (mask >> lane) & 1U ? std::to_string(first + step * lane) + "," : "-1,";
  return out;
}

}  // namespace

TEST_CASE("coalescing: the contract's keys give what the cases say, by addresses") {
  const LabPtr lab = open_lab("kernels/coalescing");
  std::ifstream file(data_file("warp_access_cases.csv"));
  std::string line;
  std::getline(file, line);
  int cases = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> v;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) v.push_back(cell);
    if (v[1] != "g" || ++cases % 4 != 0) continue;  // the model's test has them all
    CAPTURE(line);
    set(*lab, "access", "addresses", "addresses", listed(v[9]), "width_bytes", v[2]);
    if (v[3] == "x") {
      CHECK(reason_of(*lab).find("misaligned") != std::string::npos);
      continue;
    }
    CHECK(computed(*lab, "sectors") == std::stod(v[3]));
    CHECK(out(*lab, "lines") == std::stod(v[4]));
    CHECK(near(out(*lab, "efficiency"), std::stod(v[7]) * 1e-4, 1e-2));
  }
  CHECK(cases == 144);
}

TEST_CASE("coalescing: stride 2 is 8 sectors for 4, offset 1 is 5 for a warp and 33 for the 32 of a block") {
  const LabPtr lab = open_lab("kernels/coalescing");
  CHECK(computed(*lab, "sectors") == 8);
  CHECK(out(*lab, "ideal_sectors") == 4);
  CHECK(near(out(*lab, "useful_bytes_per_s"), 3.35e12 / 2, 1e-9));
  CHECK(lab->answer() ==
        "The warp wants `128 B` and fetches `256 B`: `8` sectors where `4` would do.\nIts block fetches `64` sectors "
        "where `32` would do: `1.68 TB/s` of the bandwidth is of use.");
  set(*lab, "stride", 1, "offset", 1);
  CHECK(computed(*lab, "sectors") == 5);
  CHECK(out(*lab, "block_sectors") == 33);
  CHECK(out(*lab, "block_asked_sectors") == 40);
  CHECK(near(out(*lab, "block_efficiency_percent"), 100 * 32.0 / 33, 1e-9));
  set(*lab, "stride", 0, "offset", 0);
  CHECK(computed(*lab, "sectors") == 1);
  CHECK(out(*lab, "efficiency") == 0.125);
}

TEST_CASE("coalescing: an expression or an address list that is given counts, and a kernel's line is understood") {
  const LabPtr lab = open_lab("kernels/coalescing");
  set(*lab, "access", "expression", "expression", "y[i] = a[blockIdx.x*blockDim.x+threadIdx.x*2+1]");
  CHECK(reason_of(*lab).starts_with("The name \"i\" at character 3 is not known: give it a value first"));
  set(*lab, "expression", "v = a[blockIdx.x*blockDim.x+threadIdx.x*2+1];", "block_index", 3, "warp_index", 1);
  CHECK(computed(*lab, "first_byte") == 4 * (3 * 256 + 64 + 1));
  CHECK(out(*lab, "sectors") == 8);
  set(*lab, "block_index", 0, "warp_index", 0, "expression", "lane < 16 ? lane : off");
  CHECK(computed(*lab, "active") == 16);
  CHECK(out(*lab, "sectors") == 2);
  set(*lab, "expression", "2 * (tid");
  CHECK(reason_of(*lab) == "The ( at character 5 is not closed at character 9.");
  set(*lab, "expression", "tid - 1");
  CHECK(reason_of(*lab).starts_with("Lane 0 has the index -1, before the array"));
  set(*lab, "expression", "1024 / ((tid + 216) % 256)");
  CHECK(reason_of(*lab).starts_with("Warp 1: In lane 8 the division is by zero"));
}

TEST_CASE("coalescing: what faults or fits no block is refused, and a warp beyond the block is off") {
  const LabPtr lab = open_lab("kernels/coalescing");
  set(*lab, "width_bytes", "16", "element_bytes", "4", "stride", 4, "offset", 1);
  CHECK(reason_of(*lab) == "Lane 0 is misaligned: its address 4 is no multiple of 16 B, so the instruction faults.");
  set(*lab, "offset", 8);
  CHECK(computed(*lab, "sectors") == 16);
  set(*lab, "block_height", 32);
  CHECK(reason_of(*lab).starts_with("A block has at most 1,024 threads, and 256 × 32 are 8192"));
  set(*lab, "block_height", 1, "block_width", 40, "warp_index", 1);
  CHECK(computed(*lab, "active") == 8);
  set(*lab, "warp_index", 2);
  compute(*lab);
  CHECK(lab->answer().starts_with("Warp `2` is beyond the `2` warps of the block: nothing is fetched."));
}

TEST_CASE("coalescing: the fan is pushed and stretched by hand, and a bar or a warp is taken by a press") {
  const LabPtr lab = open_lab("kernels/coalescing");
  Canvas canvas(*lab, {1200, 1000});
  UiDriver& ui = canvas.ui;
  CHECK(ui.text_present("x[ 2 * i ]"));
  CHECK(ui.text_present("line 0: 128 B, 4 sectors of 32 B"));
  CHECK(ui.text_present("sector 7"));
  ui.drag_by("stretch", {75, 0});
  CHECK(lab->inputs().find("stride")->integer() == 4);
  ui.frames(2);
  CHECK(ui.text_present("x[ 4 * i ]"));
  ui.drag_by("push", {60, 0});
  CHECK(lab->inputs().find("offset")->integer() > 0);
  ui.click("warps");
  CHECK(lab->inputs().find("warp_index")->integer() > 0);
  ui.click("stride");
  CHECK(lab->inputs().find("stride")->integer() == 8);
}
