#include "kernels/opengl/session.h"

#include <algorithm>
#include <cstdio>

#include "kernels/opengl/compiler_log.h"
#include "kernels/opengl/context.h"

namespace kernels::opengl {
namespace {

std::string driver_text(const Gl& gl, Enum what) {
  const unsigned char* text = gl.get_string(what);
  return text ? reinterpret_cast<const char*>(text) : "";
}

std::int64_t number_of(const Gl& gl, Enum what, std::int64_t otherwise) {
  int value = 0;
  gl.get_integer(what, &value);
  return value > 0 ? value : otherwise;
}

/// The log of a shader or of a program.
template <class Get, class GetLog>
std::string log_of(Name name, const Get& get, const GetLog& get_log) {
  int length = 0;
  get(name, gl_log_length, &length);
  std::string text(static_cast<std::size_t>(std::clamp(length, 0, 1 << 16)), '\0');
  int written = 0;
  if (!text.empty()) get_log(name, static_cast<int>(text.size()), &written, text.data());
  text.resize(static_cast<std::size_t>(std::clamp(written, 0, static_cast<int>(text.size()))));
  return text;
}

/// What stands before every text. Its own lines are not counted.
constexpr std::string_view core_head = "#version 430 core\n#line 1\n";
constexpr std::string_view extended_head =
    "#version 330 core\n#extension GL_ARB_compute_shader : require\n"
    "#extension GL_ARB_shader_storage_buffer_object : require\n#extension GL_ARB_shading_language_420pack : require\n"
    "#extension GL_ARB_gpu_shader5 : enable\n#extension GL_ARB_arrays_of_arrays : enable\n#line 1\n";

std::string first_error(const std::vector<Diagnostic>& all) {
  for (const Diagnostic& d : all)
    if (d.error) return (d.line > 0 ? "line " + std::to_string(d.line) + ": " : std::string()) + d.text;
  return {};
}

}  // namespace

std::string binary_bytes(std::int64_t bytes) {
  char text[48];
  const double b = static_cast<double>(bytes);
  if (bytes >= 1 << 30)
    std::snprintf(text, sizeof text, "%.1f GiB", b / 0x1p30);
  else if (bytes >= 1 << 20)
    std::snprintf(text, sizeof text, "%.1f MiB", b / 0x1p20);
  else
    std::snprintf(text, sizeof text, "%.1f KiB", b / 0x1p10);
  return text;
}

std::string why_not_timed(const Machine& machine) {
  if (!machine.none.empty()) return machine.none;
  const std::string renderer = driver_text(machine.gl, gl_renderer);
  if (is_software(renderer))
    return renderer.substr(0, 60) +
           " draws on the CPU: its kernels are checked against float64 and not timed, since its times say nothing of a "
           "GPU.";
  return {};
}

Session::Session(const Machine& machine) : machine_(machine) {
  if (!machine.none.empty()) throw Failure(machine.none);
  const Gl& gl = machine.gl;
  facts_.renderer = driver_text(gl, gl_renderer);
  facts_.version = driver_text(gl, gl_version);
  facts_.software = is_software(facts_.renderer);
  int major = 0, minor = 0, groups = 0;
  gl.get_integer(gl_major_version, &major);
  gl.get_integer(gl_minor_version, &minor);
  facts_.core = major > 4 || (major == 4 && minor >= 3);
  gl.get_integer_at(gl_max_groups, 0, &groups);
  if (groups > 0) facts_.max_groups = groups;
  facts_.max_invocations = number_of(gl, gl_max_invocations, facts_.max_invocations);
  facts_.max_shared_bytes = number_of(gl, gl_max_shared_bytes, facts_.max_shared_bytes);
  facts_.max_block_bytes = number_of(gl, gl_max_block_bytes, facts_.max_block_bytes);
  while (gl.get_error() == gl_invalid_enum) {  // of what an older driver does not know
  }
  int kib = 0;
  gl.get_integer(gl_total_memory_kib, &kib);
  if (gl.get_error() == 0 && kib > 0) facts_.memory_bytes = std::int64_t{kib} << 10;
}

void Session::must(std::string_view doing) const {
  const Enum lost = gl().reset_status ? gl().reset_status() : 0;
  const Enum error = gl().get_error();
  if (lost != 0 || error == gl_context_lost)
    throw Failure("The driver has reset the GPU while " + std::string(doing) +
                      ": a kernel ran too long or touched what is not its own.",
                  true);
  if (error == 0) return;
  if (error == gl_out_of_memory)
    throw Failure("The GPU has too little free memory while " + std::string(doing) +
                  ": choose a smaller size, or close what else uses it.");
  char number[16];
  std::snprintf(number, sizeof number, "0x%04x", error);
  throw Failure("The OpenGL driver refused a call while " + std::string(doing) + " (error " + number + ").");
}

void Session::dispatch(const Launch& l, const std::string& name) const {
  const std::int64_t most = std::max(l.groups_x, l.groups_y);
  if (most > facts_.max_groups)
    throw Failure(name + " asks for " + std::to_string(most) + " groups in one dimension, and this driver takes " +
                  std::to_string(facts_.max_groups) + ": choose a smaller size.");
  gl().dispatch(l.groups_x, l.groups_y, 1);
}

void Session::synchronize(std::string_view doing) const {
  gl().finish();
  must(doing);
}

Buffer::Buffer(const Session& session, std::int64_t bytes, const std::string& what) : session_(session) {
  const DeviceFacts& facts = session.facts();
  if (bytes > facts.max_block_bytes + 8192)
    throw Failure("An array of " + what + " takes " + binary_bytes(bytes) + ", and a shader of this driver sees " +
                  binary_bytes(facts.max_block_bytes) + " of one at a time: choose a smaller size.");
  const Gl& gl = session.gl();
  gl.make_buffers(1, &name_);
  gl.bind_buffer(gl_copy_write_buffer, name_);
  gl.buffer_data(gl_copy_write_buffer, static_cast<std::ptrdiff_t>(bytes), nullptr, gl_dynamic_copy);
  try {
    session.must("making " + binary_bytes(bytes) + " for " + what);
  } catch (...) {
    gl.delete_buffers(1, &name_);
    throw;
  }
}

void Buffer::write(std::int64_t offset, std::int64_t bytes, const void* data) const {
  session_.gl().bind_buffer(gl_copy_write_buffer, name_);
  session_.gl().write_buffer(gl_copy_write_buffer, static_cast<std::ptrdiff_t>(offset),
                             static_cast<std::ptrdiff_t>(bytes), data);
}

void Buffer::read(std::int64_t offset, std::int64_t bytes, void* data) const {
  session_.gl().bind_buffer(gl_copy_read_buffer, name_);
  session_.gl().read_buffer(gl_copy_read_buffer, static_cast<std::ptrdiff_t>(offset),
                            static_cast<std::ptrdiff_t>(bytes), data);
}

Program::Program(const Session& session, std::string_view source, const Launch& shape) : session_(session) {
  compile(source);
  if (failure_.empty()) check_group(shape);
}

Program::~Program() {
  if (program_ != 0) session_.gl().delete_program(program_);
}

void Program::compile(std::string_view source) {
  const Gl& gl = session_.gl();
  if (source.find('\0') != std::string_view::npos) {
    failure_ = "The kernel has a zero byte in its text: remove it.";
    return;
  }
  const bool own_version = source.find("#version") != std::string_view::npos;
  const std::string_view head = own_version ? std::string_view() : session_.facts().core ? core_head : extended_head;
  const char* const texts[] = {head.data() ? head.data() : "", source.data()};
  const int lengths[] = {static_cast<int>(head.size()), static_cast<int>(source.size())};
  const Name shader = gl.create_shader(gl_compute_shader);
  gl.shader_source(shader, 2, texts, lengths);
  gl.compile_shader(shader);
  int compiled = 0, linked = 0;
  gl.get_shader(shader, gl_compile_status, &compiled);
  diagnostics_ = parse_diagnostics(log_of(shader, gl.get_shader, gl.get_shader_log));
  if (compiled) {
    program_ = gl.create_program();
    gl.attach_shader(program_, shader);
    gl.link_program(program_);
    gl.get_program(program_, gl_link_status, &linked);
    for (Diagnostic& d : parse_diagnostics(log_of(program_, gl.get_program, gl.get_program_log)))
      diagnostics_.push_back(std::move(d));
  }
  gl.delete_shader(shader);
  session_.must("compiling a kernel");
  if (linked) return;
  const std::string error = first_error(diagnostics_);
  failure_ = "The kernel does not compile: " + (error.empty() ? "the driver does not say why" : error) +
             (error.ends_with('.') ? "" : ".");
  if (error.find("shared memory") != std::string::npos)
    failure_ += " This driver has " + std::to_string(session_.facts().max_shared_bytes) + " B of it for a group.";
}

void Program::check_group(const Launch& shape) {
  const Gl& gl = session_.gl();
  int group[3] = {0, 0, 0};
  gl.get_program(program_, gl_group_size, group);
  const std::int64_t all = std::int64_t{group[0]} * group[1] * group[2];
  if (all > session_.facts().max_invocations)
    failure_ = "The kernel's group has " + std::to_string(all) + " invocations, and this driver takes " +
               std::to_string(session_.facts().max_invocations) + ".";
  else if (group[0] != static_cast<int>(shape.local_x) || group[1] != static_cast<int>(shape.local_y) || group[2] != 1)
    failure_ = "The kernel's group is " + std::to_string(group[0]) + " x " + std::to_string(group[1]) + " x " +
               std::to_string(group[2]) + ", and this rung is launched with groups of " +
               std::to_string(shape.local_x) + " x " + std::to_string(shape.local_y) +
               " x 1: keep its local_size line.";
  count_at_ = gl.uniform_location(program_, "n");
}

void Program::use(unsigned n) const {
  session_.gl().use_program(program_);
  if (count_at_ >= 0) session_.gl().uniform_uint(count_at_, n);
}

}  // namespace kernels::opengl
