// The loop IR as text, in the form that ir.h shows.
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/compiler/loop/ir.h"
#include "rewind/compiler/loop/statement_text.h"

namespace rw::loop {

int64_t Kernel::parallel_extent() const {
  for (const Stmt& s : body)
    if (s.code == Code::kFor && s.kind == LoopKind::kParallel) return s.extent;
  return 1;
}

namespace {

std::string short_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return "f16";
    case DType::kBfloat16: return "bf16";
    case DType::kFloat32: return "f32";
    case DType::kFloat64: return "f64";
    case DType::kInt8: return "i8";
    case DType::kInt16: return "i16";
    case DType::kInt32: return "i32";
    case DType::kInt64: return "i64";
    case DType::kUint8: return "u8";
    case DType::kUint16: return "u16";
    case DType::kUint32: return "u32";
    case DType::kUint64: return "u64";
    default: return std::string(name_of(dtype));
  }
}

std::string var(Var v) { return "%" + std::to_string(v); }
std::string local(int32_t l) { return "local" + std::to_string(l); }

std::string place(const Affine& a) {
  std::string text;
  for (const Affine::Term& t : a.terms) {
    if (!text.empty()) text += " + ";
    if (t.step != 1) text += std::to_string(t.step) + "*";
    text += "i" + std::to_string(t.loop);
  }
  if (a.dynamic >= 0) text += (text.empty() ? "" : " + ") + var(a.dynamic);
  if (a.constant != 0 || text.empty()) text += (text.empty() ? "" : " + ") + std::to_string(a.constant);
  return text;
}

std::string element(int32_t buffer, const Affine& at) {
  return "b" + std::to_string(buffer) + "[" + place(at) + "]";
}

std::string literal(DType dtype, uint64_t bits) {
  if (dtype == DType::kFloat32) return fixed_text(double(std::bit_cast<float>(uint32_t(bits))), 6);
  if (dtype == DType::kFloat64) return fixed_text(std::bit_cast<double>(bits), 6);
  if (dtype == DType::kFloat16) return fixed_text(double(half_bits_to_float(uint16_t(bits))), 6);
  if (dtype == DType::kBfloat16) return fixed_text(double(bfloat16_bits_to_float(uint16_t(bits))), 6);
  if (dtype == DType::kBool) return bits ? "true" : "false";
  if (is_unsigned(dtype)) return std::to_string(bits);
  const int shift = 64 - 8 * int(size_of(dtype));
  return std::to_string(int64_t(bits << shift) >> shift);
}

const char* name_of_kind(LoopKind kind) {
  return kind == LoopKind::kParallel ? " parallel" : kind == LoopKind::kVector ? " vector" : "";
}

const char* name_of_combine(Combine c) {
  static constexpr const char* kNames[] = {"sum", "prod", "max", "min", "any", "all"};
  return kNames[size_t(c)];
}

void print_block(const Block& block, int depth, std::string& text);

void print(const Stmt& s, int depth, std::string& text) {
  const std::string indent(size_t(2 * depth), ' ');
  text += indent + statement_text(s) + "\n";
  if (s.code == Code::kWhile) {
    print_block(s.condition, depth + 2, text);
    text += indent + "  " + (s.args.empty() ? "?" : var(s.args[0])) + " do\n";
  }
  print_block(s.body, depth + 1, text);
  if (!s.other.empty()) {
    text += indent + "else\n";
    print_block(s.other, depth + 1, text);
  }
  for (const Reduction& r : s.reductions)
    text += indent + var(r.result) + " " + short_name(r.dtype) + " = " + name_of_combine(r.combine) + " of " +
            var(r.value) + "\n";
}

void print_block(const Block& block, int depth, std::string& text) {
  for (const Stmt& s : block) print(s, depth, text);
}

}  // namespace

std::string statement_text(const Stmt& s) {
  const std::string result = var(s.result) + " " + short_name(s.dtype) + " = ";
  const std::string first = s.args.empty() ? "?" : var(s.args[0]);
  switch (s.code) {
    case Code::kConst: return result + literal(s.dtype, s.literal);
    case Code::kIndex: return result + place(s.at);
    case Code::kLoad: return result + "load " + element(s.buffer, s.at);
    case Code::kStore: return "store " + element(s.buffer, s.at) + " = " + first;
    case Code::kOp: {
      std::string text = result + std::string(s.op) + "(";
      for (size_t i = 0; i < s.args.size(); ++i) text += (i ? ", " : "") + var(s.args[i]);
      return text + ")";
    }
    case Code::kLocal: return short_name(s.dtype) + " " + local(s.local) + " = " + first;
    case Code::kGet: return result + local(s.local);
    case Code::kSet: return local(s.local) + " = " + first;
    case Code::kFor:
      return "for i" + std::to_string(s.loop) + " < " + std::to_string(s.extent) + name_of_kind(s.kind);
    case Code::kReduce: return "reduce i" + std::to_string(s.loop) + " < " + std::to_string(s.extent);
    case Code::kWhile: return "while";
    case Code::kIf: return "if " + first;
    case Code::kFail: return "fail " + std::to_string(int64_t(s.literal));
  }
  return "?";
}

std::string to_string(const Kernel& kernel) {
  static constexpr const char* kRoles[] = {"in", "out", "scratch"};
  std::string text = kernel.name + "(";
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const BufferDef& b = kernel.buffers[i];
    text += std::string(i ? ", " : "") + kRoles[size_t(b.role)] + " " + short_name(b.dtype) + "[" +
            std::to_string(b.size) + "] b" + std::to_string(i);
  }
  text += ")\n";
  print_block(kernel.body, 1, text);
  return text;
}

}  // namespace rw::loop
