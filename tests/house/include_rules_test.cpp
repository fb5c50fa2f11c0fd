#include <catch2/catch_test_macros.hpp>

#include "tests/house/sources.h"
#include "tests/support/base/paths.h"

using house::include_fault;

TEST_CASE("every file includes only what its room may, and of its own room only its wing and those below") {
  const auto sources =
      house::read_sources(support::source_file(""), {"models", "widgets", "kernels", "chapters", "app"});
  REQUIRE(sources.size() > 10);
  std::string faults;
  for (const auto& source : sources)
    for (std::size_t i = 0; i < source.lines.size(); ++i)
      if (const std::string fault = include_fault(source.path, source.lines[i]); !fault.empty())
        faults += house::at_line(source, i, fault) + "\n";
  INFO(faults);
  CHECK(faults.empty());
}

// The rules themselves, one breach and one right include of each kind: design.md section 2.
TEST_CASE("the include rules catch each kind of breach") {
  struct Breach {
    const char* path;
    const char* line;
  };
  for (const Breach b : {
           Breach{"models/machine/roofline.cpp", "#include <imgui.h>"},
           Breach{"models/machine/roofline.cpp", "#include \"widgets/plot/plot.h\""},
           Breach{"models/machine/hardware.h", "#include <nlohmann/json.hpp>"},
           Breach{"models/machine/hardware.cpp", "  #  include <fstream>"},
           Breach{"models/base/units.cpp", "#include <unistd.h>"},
           Breach{"models/machine/hardware.cpp", "#include <simdjson.h>"},
           Breach{"models/trace/trace.h", "#include <isa-l/igzip_lib.h>"},
           Breach{"widgets/plot/plot.cpp", "#include \"models/base/units.h\""},
           Breach{"widgets/plot/plot.cpp", "#include <nlohmann/json.hpp>"},
           Breach{"widgets/plot/plot.cpp", "#include <md4c.h>"},
           Breach{"kernels/cpu/gemm.cpp", "#include \"models/machine/roofline.h\""},
           Breach{"kernels/cpu/gemm.cpp", "#include <cuda.h>"},
           Breach{"chapters/roofline/iron_law/draw.cpp", "#include \"app/shell/shell.h\""},
           Breach{"chapters/roofline/iron_law/draw.cpp", "#include \"chapters/memory/planner/lab.h\""},
           Breach{"chapters/roofline/iron_law/draw.cpp", "#include <GL/gl.h>"},
           Breach{"chapters/roofline/iron_law/draw.cpp", "#include <nlohmann/json.hpp>"},
           Breach{"chapters/mechanism/field.h", "#include <nlohmann/json.hpp>"},
           Breach{"chapters/mechanism/registry.cpp", "#include \"kernels/cpu/gemm.h\""},
           Breach{"app/shell/shell.cpp", "#include <nvrtc.h>"},
           Breach{"app/shell/shell.cpp", "#include \"tests/app/driver.h\""},
           Breach{"models/base/units.h", "#include \"models/machine/hardware.h\""},
           Breach{"models/transformer/step_time.h", "#include \"models/serving/engine/serving.h\""},
           Breach{"models/astrology/stars.h", "#include \"models/base/result.h\""},
           Breach{"models/base/result.h", "#include \"models/astrology/stars.h\""},
           Breach{"models/base/result.h", "#include \"models/everything.h\""},
           Breach{"widgets/base/painter.h", "#include \"widgets/plot/plot.h\""},
           Breach{"widgets/plot/plot.h", "#include \"widgets/table/table.h\""},
           Breach{"app/scenario/scenario.h", "#include \"app/workspace/workspace.h\""},
           Breach{"app/shell/shell.h", "#include \"app/main.h\""},
           Breach{"chapters/mechanism/lab.h", "#include \"chapters/practice/drill.h\""},
           Breach{"chapters/mechanism/registry.cpp", "#include \"chapters/roofline/roofline/lab.h\""},
           Breach{"chapters/described/serving.cpp", "#include \"chapters/practice/drill.h\""},
           Breach{"chapters/practice/drill.h", "#include \"chapters/interview/drills/lab.h\""},
           Breach{"chapters/described/serving.cpp", "#include \"chapters/serving/batching/lab.h\""},
           Breach{"widgets/plot/plot.cpp", "#include \"../models/base/units.h\""},
       }) {
    INFO(b.path << ": " << b.line);
    CHECK_FALSE(include_fault(b.path, b.line).empty());
  }
}

TEST_CASE("the include rules allow what the design allows") {
  struct Allowed {
    const char* path;
    const char* line;
  };
  for (const Allowed a : {
           Allowed{"models/machine/hardware.cpp", "#include <nlohmann/json.hpp>"},
           Allowed{"models/trace/readers/event.cpp", "#include <simdjson.h>"},
           Allowed{"models/machine/roofline.h", "#include \"models/base/units.h\""},
           Allowed{"widgets/prose/parse.cpp", "#include <md4c.h>"},
           Allowed{"widgets/plot/plot.h", "#include <imgui.h>"},
           Allowed{"kernels/cpu/gemm.cpp", "#include <immintrin.h>"},
           Allowed{"kernels/cpu/gemm.cpp", "#include \"models/machine/op_cost.h\""},
           Allowed{"models/base/json_text.h", "#include <nlohmann/json_fwd.hpp>"},
           Allowed{"kernels/cuda/driver.cpp", "#include <cuda.h>"},
           Allowed{"chapters/roofline/iron_law/draw.cpp", "#include \"chapters/mechanism/lab.h\""},
           Allowed{"chapters/roofline/iron_law/draw.cpp", "#include \"chapters/roofline/shared/peaks.h\""},
           Allowed{"chapters/roofline/roofline/lab.h", "#include \"chapters/described/roofline.h\""},
           Allowed{"chapters/interview/drills/compute.cpp", "#include \"chapters/practice/drill.h\""},
           Allowed{"chapters/described/serving.h", "#include \"chapters/mechanism/field.h\""},
           Allowed{"models/serving/engine/serving.cpp", "#include \"models/transformer/step_time.h\""},
           Allowed{"widgets/timeline/timeline.h", "#include \"widgets/plot/axis.h\""},
           Allowed{"app/main.cpp", "#include \"app/cli/cli.h\""},
           Allowed{"app/shell/shell.cpp", "#include \"app/workspace/workspace.h\""},
           Allowed{"app/platform/window.cpp", "#include <GLFW/glfw3.h>"},
           Allowed{"models/machine/roofline.cpp", "// #include <imgui.h>"},
       }) {
    INFO(a.path << ": " << a.line << ": " << include_fault(a.path, a.line));
    CHECK(include_fault(a.path, a.line).empty());
  }
}
