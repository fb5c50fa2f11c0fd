#include <catch2/catch_test_macros.hpp>

#include "tests/house/sources.h"
#include "tests/support/base/paths.h"

using house::include_fault;

TEST_CASE("every file includes only what its folder may") {
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
           Breach{"models/roofline.cpp", "#include <imgui.h>"},
           Breach{"models/roofline.cpp", "#include \"widgets/plot.h\""},
           Breach{"models/hardware.h", "#include <nlohmann/json.hpp>"},
           Breach{"models/hardware.cpp", "  #  include <fstream>"},
           Breach{"models/units.cpp", "#include <unistd.h>"},
           Breach{"models/hardware.cpp", "#include <simdjson.h>"},
           Breach{"models/trace.h", "#include <isa-l/igzip_lib.h>"},
           Breach{"widgets/plot.cpp", "#include \"models/units.h\""},
           Breach{"widgets/plot.cpp", "#include <nlohmann/json.hpp>"},
           Breach{"widgets/plot.cpp", "#include <md4c.h>"},
           Breach{"kernels/cpu/gemm.cpp", "#include \"models/roofline.h\""},
           Breach{"kernels/cpu/gemm.cpp", "#include <cuda.h>"},
           Breach{"chapters/roofline/iron_law.cpp", "#include \"app/shell.h\""},
           Breach{"chapters/roofline/iron_law.cpp", "#include \"chapters/memory/planner.h\""},
           Breach{"chapters/roofline/iron_law.cpp", "#include <GL/gl.h>"},
           Breach{"chapters/roofline/iron_law.cpp", "#include <nlohmann/json.hpp>"},
           Breach{"chapters/field.h", "#include <nlohmann/json.hpp>"},
           Breach{"chapters/registry.cpp", "#include \"kernels/cpu/gemm.h\""},
           Breach{"app/shell.cpp", "#include <nvrtc.h>"},
           Breach{"app/shell.cpp", "#include \"tests/app/driver.h\""},
           Breach{"widgets/plot.cpp", "#include \"../models/units.h\""},
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
           Allowed{"models/hardware.cpp", "#include <nlohmann/json.hpp>"},
           Allowed{"models/trace_event.cpp", "#include <simdjson.h>"},
           Allowed{"models/roofline.h", "#include \"models/units.h\""},
           Allowed{"widgets/prose_parse.cpp", "#include <md4c.h>"},
           Allowed{"widgets/plot.h", "#include <imgui.h>"},
           Allowed{"kernels/cpu/gemm.cpp", "#include <immintrin.h>"},
           Allowed{"kernels/cpu/gemm.cpp", "#include \"models/machine/op_cost.h\""},
           Allowed{"models/base/json_text.h", "#include <nlohmann/json_fwd.hpp>"},
           Allowed{"kernels/cuda/driver.cpp", "#include <cuda.h>"},
           Allowed{"chapters/roofline/iron_law.cpp", "#include \"chapters/lab.h\""},
           Allowed{"chapters/roofline/iron_law.cpp", "#include \"chapters/roofline/shared.h\""},
           Allowed{"chapters/registry.cpp", "#include \"chapters/roofline/chapter.h\""},
           Allowed{"chapters/scenario.cpp", "#include <nlohmann/json.hpp>"},
           Allowed{"app/window.cpp", "#include <GLFW/glfw3.h>"},
           Allowed{"models/roofline.cpp", "// #include <imgui.h>"},
       }) {
    INFO(a.path << ": " << a.line << ": " << include_fault(a.path, a.line));
    CHECK(include_fault(a.path, a.line).empty());
  }
}
