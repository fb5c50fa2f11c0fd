// The OpenGL ladders: every rung for real on the driver of this machine (a software renderer is enough), and the
// protocol on a GPU that is played.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <string>
#include <vector>

#include "kernels/opengl/compiler_log.h"
#include "kernels/opengl/context.h"
#include "kernels/opengl/opengl.h"
#include "kernels/opengl/run.h"
#include "kernels/opengl/session.h"
#include "tests/kernels/opengl_player.h"

using namespace kernels;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using opengl_player::play;

namespace {

using Results = std::map<std::string, Result>;

Results run_gl(const opengl::Machine& machine, const Request& request) {
  Results all;
  const auto ran = opengl::run_on(machine, request, *find_ladder(request.ladder),
                                  {.result = [&](const Result& r) { return all.emplace(r.rung, r).second; }});
  CHECK(ran.error == "");
  return all;
}

Request small_gl_copy(std::vector<std::string> rungs = {}) {
  return {
      .ladder = "gl-copy",
      .rungs = std::move(rungs),
      .size = 1 << 20,
      .cold = false,
      .seconds_per_rung = 0.003,
  };
}

/// The result of gl-copy's first rung with this text.
Result edited(const opengl::Machine& machine, const std::string& source) {
  Request r = small_gl_copy({"scalar"});
  r.edited_rung = "scalar";
  r.edited_source = source;
  return run_gl(machine, r).at("scalar");
}

std::string shader_with(const std::string& statement) {
  return "layout(local_size_x = 256) in;\n"
         "layout(std430, binding = 0) readonly buffer In { float a[]; };\n"
         "layout(std430, binding = 2) writeonly buffer Out { float c[]; };\n"
         "uniform uint n;\n"
         "void main() {\n"
         "  uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 256u + gl_LocalInvocationID.x;\n  " +
         statement + "\n}\n";
}

/// The driver as it is. Without one there is nothing to run.
opengl::Machine own_machine() {
  opengl::Machine machine = opengl::open_machine();
  if (!machine.none.empty()) SKIP(machine.none);
  return machine;
}

opengl::Machine played_machine() {
  opengl::Machine machine = opengl_player::machine();
  if (!machine.none.empty()) SKIP(machine.none);
  return machine;
}

void check_everything_given_back() {
  CHECK(play().buffers == 0);
  CHECK(play().queries == 0);
  CHECK(play().programs == 0);
}

}  // namespace

TEST_CASE("every rung of every OpenGL ladder is right against float64 at an awkward size and at a round one") {
  const opengl::Machine machine = own_machine();
  const opengl::Session session(machine);
  if (!session.facts().software) SKIP("A GPU is here: its rungs are checked when they are timed.");
  for (const Ladder& ladder : opengl::ladders()) {
    const Results all = run_gl(machine, {.ladder = std::string(ladder.id)});
    CHECK(all.size() == ladder.rungs.size());
    for (const Rung& rung : ladder.rungs) {
      INFO(ladder.id << " " << rung.id);
      const Result& r = all.at(std::string(rung.id));
      CHECK_THAT(r.failure, StartsWith("Right against float64 at size "));
      CHECK_THAT(r.failure, ContainsSubstring(" and not timed: " + session.facts().renderer.substr(0, 8)));
      CHECK(r.checked);
      CHECK(r.error <= r.error_bound);
      CHECK((r.time_s == 0 && r.samples == 0));
    }
  }
}

TEST_CASE("a software renderer's times are taken nowhere, and the reason is one sentence") {
  const opengl::Machine machine = own_machine();
  if (!opengl::Session(machine).facts().software) SKIP("A GPU is here.");
  CHECK_THAT(opengl::why_not_timed(machine), ContainsSubstring("its times say nothing of a GPU."));
  const Roofs roofs = opengl::measure_roofs_on(machine, 1, {});
  CHECK(roofs.roofs.empty());
  CHECK(roofs.failure == opengl::why_not_timed(machine));
  CHECK(opengl::is_software("llvmpipe (LLVM 15.0.6, 256 bits)"));
  CHECK(opengl::is_software("softpipe"));
  CHECK_FALSE(opengl::is_software("AMD Radeon Graphics (radeonsi, renoir, LLVM 15.0.6)"));
}

TEST_CASE("on a GPU a rung is checked, timed by pairs of timestamps, and checked on new numbers") {
  const opengl::Machine machine = played_machine();
  const Results all = run_gl(machine, small_gl_copy());
  REQUIRE(all.size() == 3);
  for (const auto& [id, r] : all) {
    INFO(id << ": " << r.failure);
    CHECK(r.failure.empty());
    CHECK_FALSE(r.checked);
    CHECK(r.time_s == Approx(1e-3));  // of the played clock
    CHECK(r.samples >= 3);
    CHECK(r.error == 0);
    CHECK(r.report.block_threads == 256);
  }
  check_everything_given_back();
}

TEST_CASE("a dispatch of many groups is a grid of two, and one beyond the driver's limit is refused") {
  const opengl::Machine machine = played_machine();
  // 16,385 groups of 256: with 20,000 in a dimension they fit, with 100 they do not.
  Request request = small_gl_copy({"scalar"});
  request.size = 16 << 20;
  play().max_groups = 100;
  CHECK(run_gl(machine, request).at("scalar").failure.find(" groups in one dimension, and this driver takes 100: ") !=
        std::string::npos);
  for (const Ladder& ladder : opengl::ladders())
    for (const Rung& rung : ladder.rungs) {
      INFO(ladder.id << " " << rung.id);
      const opengl::Operation& operation = *opengl::find_operation(ladder.id);
      for (const opengl::Launch& l : operation.launches(rung.id, operation.rounded(ladder.size_hi))) {
        CHECK(std::max(l.groups_x, l.groups_y) <= 65535);
        CHECK(l.local_x * l.local_y <= 1024);
      }
      CHECK(4 * operation.input_floats(operation.rounded(ladder.size_hi)) <= 1 << 27);
    }
}

TEST_CASE("an edited kernel is used, or refused with its line") {
  const opengl::Machine machine = played_machine();
  CHECK(edited(machine, shader_with("if (i < n) c[i] = a[i];")).failure.empty());
  CHECK(edited(machine, "#version 430 core\n" + shader_with("if (i < n) c[i] = a[i];")).failure.empty());
  const Result wrong = edited(machine, shader_with("if (i < n) c[i] = b[i];"));
  CHECK_FALSE(wrong.compiled);
  CHECK_THAT(wrong.failure, StartsWith("The kernel does not compile: line 7: "));
  REQUIRE_FALSE(wrong.diagnostics.empty());
  CHECK((wrong.diagnostics.front().error && wrong.diagnostics.front().line == 7));
  std::string wide = shader_with("if (i < n) c[i] = a[i];");
  wide.replace(wide.find("256"), 3, "128");
  CHECK(edited(machine, wide).failure ==
        "The kernel's group is 128 x 1 x 1, and this rung is launched with groups of 256 x 1 x 1: keep its local_size "
        "line.");
  CHECK_THAT(
      edited(machine, "shared float big[100000];\n" + shader_with("big[i % 100000u] = a[i]; c[i] = big[0];")).failure,
      StartsWith("The kernel does not compile: "));
  CHECK_THAT(edited(machine, "").failure, StartsWith("The kernel does not compile: "));
  CHECK_THAT(edited(machine, std::string("a\0b", 3)).failure, ContainsSubstring("zero byte"));
  check_everything_given_back();
}

TEST_CASE("a kernel that is wrong is said to be, before it is timed") {
  const opengl::Machine machine = played_machine();
  CHECK_THAT(edited(machine, shader_with("if (i < n / 2u) c[i] = a[i];")).failure,
             ContainsSubstring("of its numbers were never written"));
  CHECK_THAT(edited(machine, shader_with("if (i < n) c[i] = 2.0 * a[i];")).failure,
             ContainsSubstring("it is off by 1e+02 % from float64, and it must be exact."));
  CHECK_THAT(edited(machine, shader_with("if (i + 1u < n) c[i] = a[i];")).failure,
             ContainsSubstring("1 of its numbers"));
}

TEST_CASE("no time is taken of a clock that stands, and none that would be too long for a display's driver") {
  const opengl::Machine machine = played_machine();
  play().clock_stands = true;
  CHECK_THAT(run_gl(machine, small_gl_copy({"scalar"})).at("scalar").failure, ContainsSubstring("less than 1 us"));
  play().clock_stands = false;
  play().counter_bits = 0;
  CHECK_THAT(run_gl(machine, small_gl_copy({"scalar"})).at("scalar").failure, ContainsSubstring("have 0 bits"));
  play().counter_bits = 64;
  // 157 groups at the small size: 0.16 s, so that the size asked for, 6.5 times that, would take a second.
  play().second_per_group = 1e-3;
  const std::string slow = run_gl(machine, small_gl_copy({"scalar"})).at("scalar").failure;
  CHECK(slow ==
        "One run at size 1.0 MiB would take about 1.0 s, and the drivers of displays reset a GPU that works 2 s on "
        "one: choose a size up to 1.0 MiB.");
  check_everything_given_back();
}

TEST_CASE("too little memory, too large an array and a reset device are one sentence each") {
  const opengl::Machine machine = played_machine();
  play().memory_bytes = 1 << 19;
  const std::string full = run_gl(machine, small_gl_copy({"scalar"})).at("scalar").failure;
  CHECK_THAT(full, StartsWith("The GPU has too little free memory while making 1.0 MiB for gl-copy at size 1048576: "));
  play().memory_bytes = 1 << 30;
  play().max_block_bytes = 1 << 18;
  CHECK_THAT(run_gl(machine, small_gl_copy({"scalar"})).at("scalar").failure,
             ContainsSubstring("a shader of this driver sees 256.0 KiB of one at a time"));
  play().max_block_bytes = 1 << 27;
  play().lost_after = 0;
  const Results lost = run_gl(machine, small_gl_copy());
  CHECK_THAT(lost.at("scalar").failure, StartsWith("The driver has reset the GPU while running copy_scalar"));
  for (const char* id : {"vec4", "grid_stride"})
    CHECK(lost.at(id).failure ==
          "Not run: copy_scalar has taken the context with it, and only a new process gets another.");
  check_everything_given_back();
}

TEST_CASE("OpenGL ceilings are rates of what was launched") {
  const opengl::Machine machine = played_machine();
  play().computes = false;
  play().max_block_bytes = 1 << 20;
  play().dispatch_s = 10e-3;
  const Roofs roofs = opengl::measure_roofs_on(machine, 0.03, {});
  CHECK(roofs.failure == "");
  CHECK(roofs.device_name == "Some GPU");
  CHECK(roofs.value("gl_read") == Approx(0x1p20 / 20e-3));  // two passes
  CHECK(roofs.value("gl_copy") == Approx(2 * 0x1p20 / 10e-3));
  CHECK(roofs.value("gl_fma") == Approx(find_ladder("gl-fma")->cost(64).flops / 10e-3));
  check_everything_given_back();
}

TEST_CASE("a driver that is too old or missing is one sentence, and nothing runs") {
  static int minor = 1;
  static bool extended = false;
  opengl::Gl gl;
  gl.get_string = [](opengl::Enum) { return reinterpret_cast<const unsigned char*>("Old GPU"); };
  gl.get_integer = [](opengl::Enum what, int* value) {
    *value = what == opengl::gl_major_version ? 4 : what == opengl::gl_minor_version ? minor : extended ? 2 : 0;
  };
  gl.get_string_at = [](opengl::Enum, unsigned index) {
    return reinterpret_cast<const unsigned char*>(index == 0 ? "GL_ARB_compute_shader"
                                                             : "GL_ARB_shader_storage_buffer_object");
  };
  gl.dispatch = [](unsigned, unsigned, unsigned) {};
  gl.memory_barrier = [](unsigned) {};
  CHECK_THAT(opengl::why_no_compute(gl), StartsWith("The driver of Old GPU offers OpenGL 4.1, and compute kernels need "
                                                    "4.3 or the extensions GL_ARB_compute_shader"));
  extended = true;
  CHECK(opengl::why_no_compute(gl).empty());
  extended = false;
  minor = 3;
  CHECK(opengl::why_no_compute(gl).empty());
  gl.dispatch = nullptr;
  CHECK_FALSE(opengl::why_no_compute(gl).empty());
  const opengl::Machine none{.gl = {}, .none = "No driver.", .context = nullptr};
  CHECK(opengl::run_on(none, small_gl_copy(), *find_ladder("gl-copy"), {}).error == "No driver.");
  CHECK(opengl::measure_roofs_on(none, 1, {}).failure == "No driver.");
}

TEST_CASE("messages of three makers' compilers are mapped to lines") {
  const auto only = [](std::string_view log) {
    const auto all = opengl::parse_diagnostics(log);
    return all.size() == 1 ? all.front() : Diagnostic{.line = -1, .text = {}, .error = false};
  };
  CHECK(only("0:12(5): error: `x' undeclared\n") == Diagnostic{12, "`x' undeclared", true});
  CHECK(only("0:3(1): warning: unused\r\n\n") == Diagnostic{3, "unused", false});
  CHECK(only("0(7) : error C1503: undefined variable \"x\"") == Diagnostic{7, "undefined variable \"x\"", true});
  CHECK(only("ERROR: 0:9: 'x' : undeclared identifier") == Diagnostic{9, "'x' : undeclared identifier", true});
  CHECK(only("WARNING: 0:9: 'x' : unused") == Diagnostic{9, "'x' : unused", false});
  CHECK(only("error: Too much shared memory used (400000/32768)\n") ==
        Diagnostic{0, "Too much shared memory used (400000/32768)", true});
  CHECK(opengl::parse_diagnostics("3 warnings, no complaint\n").empty());
  CHECK(opengl::parse_diagnostics("0:\n0(\n:::\n0:99999999999999(1): error: x").size() == 1);
}
