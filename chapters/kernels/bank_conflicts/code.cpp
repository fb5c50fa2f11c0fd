#include <bit>

#include "chapters/kernels/bank_conflicts/lab.h"

/// The tile as C++ that can be pasted into a kernel.
namespace chapters::kernels::bank_conflicts {
namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

std::string type_of(Element element) { return std::string(name_of(element)); }

/// "(row >> 1 & 3)".
std::string flip_of(const Outputs& out) {
  const std::string shifted = out.flip_shift > 0 ? "row >> " + number(out.flip_shift) : "row";
  return "(" + shifted + " & " + number(out.flip_mask) + ")";
}

/// The XOR on elements, where a unit is one or several of them.
std::string element_index(const Inputs& in, const Outputs& out, std::int64_t per_unit) {
  const std::string row = "row * " + number(in.columns) + " + ";
  if (per_unit == 1) return row + "(col ^ " + flip_of(out) + ")";
  return row + "((col / " + number(per_unit) + " ^ " + flip_of(out) + ") * " + number(per_unit) + " + col % " +
         number(per_unit) + ")";
}

/// The same as a layout of CuTe on elements; empty where it has none.
std::string cute_layout(const Inputs& in, const Outputs& out, std::int64_t element) {
  int bits = 0, base = 0, shift = 0;
  if (std::sscanf(out.cute.c_str(), "Swizzle<%d,%d,%d>", &bits, &base, &shift) != 3) return {};
  const int on_elements = base - std::countr_zero(static_cast<std::uint64_t>(element));
  if (on_elements < 0) return {};
  const std::string m = number(in.rows), n = number(in.columns);
  return "// CuTe, offsets in elements:\n"
         "auto layout = composition(Swizzle<" +
         number(bits) + ", " + number(on_elements) + ", " + number(shift) + ">{},\n    Layout<Shape<_" + m + ", _" + n +
         ">, Stride<_" + n + ", _1>>{});\n";
}

}  // namespace

std::string_view name_of(Element element) {
  switch (element) {
    case Element::int8:
      return "int8_t";
    case Element::half:
      return "half";
    case Element::float32:
      return "float";
    case Element::double64:
      return "double";
  }
  return {};
}

std::string swizzled_code(const Inputs& in, const Outputs& out) {
  const std::int64_t element = bytes_of(in.element), unit = out.unit_bytes;
  const std::string type = type_of(in.element);
  if (!out.swizzled.reason.empty()) return "// " + out.swizzled.reason + "\n";
  std::string code =
      "__shared__ __align__(128) " + type + " tile[" + number(in.rows) + " * " + number(in.columns) + "];\n";
  code += "// Units of " + number(unit) + " B: unit c of row r lies at " + out.flip + ".\n";
  if (unit >= element)
    return code + "__device__ int at(int row, int col) {  // index of an element\n  return " +
           element_index(in, out, unit / element) + ";\n}\n" + cute_layout(in, out, element);
  return code + "__device__ int at(int row, int byte) {  // of a byte: an element is split\n  return row * " +
         number(out.row_bytes) + " + ((byte / " + number(unit) + " ^ " + flip_of(out) + ") * " + number(unit) +
         " + byte % " + number(unit) + ");\n}\n";
}

std::string padded_code(const Inputs& in, const Outputs& out) {
  return "// " + number(static_cast<std::int64_t>(out.padding_bytes)) + " B of padding, rows aligned to " +
         number(out.alignment_bytes) + " B\n__shared__ __align__(128) " + type_of(in.element) + " tile[" +
         number(in.rows) + "][" + number(in.columns) + " + " + number(in.padding) + "];\n";
}

}  // namespace chapters::kernels::bank_conflicts
