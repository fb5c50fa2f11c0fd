#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

/// The part of OpenGL that compute kernels need, declared here so that no header of it is needed to build. Every entry
/// is a function that the driver gives when a context is opened (context.h), or that a test puts there to play a
/// driver. Signatures: OpenGL 4.3 core profile; enumerations and names of objects are passed as unsigned.
namespace kernels::opengl {

using Enum = unsigned;
using Name = unsigned;

struct Gl {
  const unsigned char* (*get_string)(Enum) = nullptr;
  const unsigned char* (*get_string_at)(Enum, unsigned index) = nullptr;
  void (*get_integer)(Enum, int*) = nullptr;
  void (*get_integer_at)(Enum, unsigned index, int*) = nullptr;
  Enum (*get_error)() = nullptr;
  Name (*create_shader)(Enum kind) = nullptr;
  void (*shader_source)(Name, int count, const char* const* texts, const int* lengths) = nullptr;
  void (*compile_shader)(Name) = nullptr;
  void (*get_shader)(Name, Enum, int*) = nullptr;
  void (*get_shader_log)(Name, int room, int* length, char* text) = nullptr;
  void (*delete_shader)(Name) = nullptr;
  Name (*create_program)() = nullptr;
  void (*attach_shader)(Name program, Name shader) = nullptr;
  void (*link_program)(Name) = nullptr;
  void (*get_program)(Name, Enum, int*) = nullptr;
  void (*get_program_log)(Name, int room, int* length, char* text) = nullptr;
  void (*use_program)(Name) = nullptr;
  void (*delete_program)(Name) = nullptr;
  int (*uniform_location)(Name program, const char* name) = nullptr;
  void (*uniform_uint)(int location, unsigned value) = nullptr;
  void (*make_buffers)(int count, Name*) = nullptr;
  void (*delete_buffers)(int count, const Name*) = nullptr;
  void (*bind_buffer)(Enum target, Name) = nullptr;
  void (*bind_buffer_range)(Enum target, unsigned index, Name, std::ptrdiff_t offset, std::ptrdiff_t bytes) = nullptr;
  void (*buffer_data)(Enum target, std::ptrdiff_t bytes, const void* data, Enum usage) = nullptr;
  void (*write_buffer)(Enum target, std::ptrdiff_t offset, std::ptrdiff_t bytes, const void* data) = nullptr;
  void (*read_buffer)(Enum target, std::ptrdiff_t offset, std::ptrdiff_t bytes, void* data) = nullptr;
  void (*copy_buffer)(Enum from, Enum to, std::ptrdiff_t from_offset, std::ptrdiff_t to_offset,
                      std::ptrdiff_t bytes) = nullptr;
  void (*dispatch)(unsigned groups_x, unsigned groups_y, unsigned groups_z) = nullptr;
  void (*memory_barrier)(unsigned bits) = nullptr;
  void (*flush)() = nullptr;
  void (*finish)() = nullptr;
  void (*make_queries)(int count, Name*) = nullptr;
  void (*delete_queries)(int count, const Name*) = nullptr;
  void (*query_counter)(Name, Enum) = nullptr;
  void (*get_query)(Enum target, Enum what, int*) = nullptr;
  void (*get_query_result)(Name, Enum, std::uint64_t*) = nullptr;
  Enum (*reset_status)() = nullptr;  ///< OpenGL 4.5 or KHR_robustness; null where the driver has neither
};

// Values of the OpenGL 4.3 registry.
inline constexpr Enum gl_vendor = 0x1f00, gl_renderer = 0x1f01, gl_version = 0x1f02, gl_extensions = 0x1f03;
inline constexpr Enum gl_major_version = 0x821b, gl_minor_version = 0x821c, gl_extension_count = 0x821d;
inline constexpr Enum gl_invalid_enum = 0x0500, gl_invalid_value = 0x0501, gl_invalid_operation = 0x0502,
                      gl_out_of_memory = 0x0505, gl_context_lost = 0x0507;
inline constexpr Enum gl_compute_shader = 0x91b9, gl_compile_status = 0x8b81, gl_link_status = 0x8b82,
                      gl_log_length = 0x8b84;
inline constexpr Enum gl_group_size = 0x8267;  ///< Three numbers of a program.
inline constexpr Enum gl_max_groups = 0x91be, gl_max_invocations = 0x90eb, gl_max_shared_bytes = 0x8262,
                      gl_max_block_bytes = 0x90de;
inline constexpr Enum gl_storage_buffer = 0x90d2, gl_copy_read_buffer = 0x8f36, gl_copy_write_buffer = 0x8f37,
                      gl_dynamic_copy = 0x88ea;
inline constexpr Enum gl_timestamp = 0x8e28, gl_counter_bits = 0x8864, gl_query_result = 0x8866;
inline constexpr unsigned gl_all_barriers = 0xffffffff;
inline constexpr Enum gl_total_memory_kib = 0x9048;  ///< GL_NVX_gpu_memory_info

/// A driver with a context on this thread, or why there is none. The context ends with the last copy.
struct Machine {
  Gl gl;
  std::string none;               ///< one sentence; empty: the functions may be called
  std::shared_ptr<void> context;  ///< whatever keeps it current
};

}  // namespace kernels::opengl
