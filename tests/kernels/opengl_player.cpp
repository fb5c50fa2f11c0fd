#include "tests/kernels/opengl_player.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/opengl/context.h"

namespace opengl_player {
namespace {

using namespace kernels::opengl;

struct State {
  Gl real;
  Play play;
  double now_ns = 1e6;
  std::map<Name, std::uint64_t> stamps;
  Enum error = 0;
};

State& state() {
  static State all;
  return all;
}

const unsigned char* get_string(Enum what) {
  if (what != gl_renderer) return state().real.get_string(what);
  return reinterpret_cast<const unsigned char*>(state().play.renderer.c_str());
}

void get_integer(Enum what, int* value) {
  if (what == gl_max_block_bytes)
    *value = static_cast<int>(state().play.max_block_bytes);
  else
    state().real.get_integer(what, value);
}

void get_integer_at(Enum what, unsigned index, int* value) {
  if (what == gl_max_groups)
    *value = static_cast<int>(state().play.max_groups);
  else
    state().real.get_integer_at(what, index, value);
}

Enum get_error() {
  const Enum own = std::exchange(state().error, 0u);
  return own != 0 ? own : state().real.get_error();
}

void buffer_data(Enum target, std::ptrdiff_t bytes, const void* data, Enum usage) {
  if (bytes > state().play.memory_bytes)
    state().error = gl_out_of_memory;
  else
    state().real.buffer_data(target, bytes, data, usage);
}

void dispatch(unsigned x, unsigned y, unsigned z) {
  Play& p = state().play;
  ++p.dispatches;
  p.widest = std::max({p.widest, std::int64_t{x}, std::int64_t{y}});
  const double groups = static_cast<double>(x) * static_cast<double>(y);
  state().now_ns += 1e9 * (p.dispatch_s + p.second_per_group * groups);
  if (p.computes) state().real.dispatch(x, y, z);
}

void copy_buffer(Enum from, Enum to, std::ptrdiff_t from_offset, std::ptrdiff_t to_offset, std::ptrdiff_t bytes) {
  state().now_ns += 1e9 * state().play.dispatch_s;
  state().real.copy_buffer(from, to, from_offset, to_offset, bytes);
}

Enum reset_status() {
  const Play& p = state().play;
  return p.lost_after >= 0 && p.dispatches > p.lost_after ? 0x8253u : 0u;  // GL_GUILTY_CONTEXT_RESET
}

}  // namespace

Play& play() { return state().play; }

kernels::opengl::Machine machine() {
  kernels::opengl::Machine played = open_machine();
  state() = {};
  if (!played.none.empty()) return played;
  state().real = played.gl;
  Gl& gl = played.gl;
  gl.get_string = get_string;
  gl.get_integer = get_integer;
  gl.get_integer_at = get_integer_at;
  gl.get_error = get_error;
  gl.buffer_data = buffer_data;
  gl.copy_buffer = copy_buffer;
  gl.dispatch = dispatch;
  gl.reset_status = reset_status;
  gl.query_counter = [](Name query, Enum) {
    state().stamps[query] = state().play.clock_stands ? 0 : static_cast<std::uint64_t>(state().now_ns);
  };
  gl.get_query = [](Enum, Enum, int* bits) { *bits = state().play.counter_bits; };
  gl.get_query_result = [](Name query, Enum, std::uint64_t* ns) { *ns = state().stamps[query]; };
  gl.make_buffers = [](int count, Name* names) {
    state().play.buffers += count;
    state().real.make_buffers(count, names);
  };
  gl.delete_buffers = [](int count, const Name* names) {
    state().play.buffers -= count;
    state().real.delete_buffers(count, names);
  };
  gl.make_queries = [](int count, Name* names) {
    state().play.queries += count;
    state().real.make_queries(count, names);
  };
  gl.delete_queries = [](int count, const Name* names) {
    state().play.queries -= count;
    state().real.delete_queries(count, names);
  };
  gl.create_program = [] {
    ++state().play.programs;
    return state().real.create_program();
  };
  gl.delete_program = [](Name program) {
    --state().play.programs;
    state().real.delete_program(program);
  };
  return played;
}

}  // namespace opengl_player
