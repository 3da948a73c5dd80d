#include "rewind/compiler/loop/builder.h"

#include "rewind/base/error.h"
#include "rewind/compiler/loop/scalar_ops.h"

namespace rw::loop {

Affine operator*(int64_t step, Index i) {
  Affine a;
  if (step != 0) a.terms.push_back({i.loop, step});
  return a;
}

Affine operator*(int64_t factor, const Affine& a) {
  RW_CHECK(a.dynamic < 0);
  Affine result;
  result.constant = factor * a.constant;
  if (factor != 0)
    for (const Affine::Term& t : a.terms) result.terms.push_back({t.loop, factor * t.step});
  return result;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum = a;
  sum.constant += b.constant;
  for (const Affine::Term& t : b.terms) {
    bool found = false;
    for (Affine::Term& s : sum.terms) {
      if (s.loop != t.loop) continue;
      s.step += t.step;
      found = true;
    }
    if (!found) sum.terms.push_back(t);
  }
  RW_CHECK(a.dynamic < 0 || b.dynamic < 0);
  if (b.dynamic >= 0) sum.dynamic = b.dynamic;
  return sum;
}

int32_t Builder::buffer(DType dtype, int64_t size, Role role) {
  kernel_.buffers.push_back({dtype, size, role});
  return int32_t(kernel_.buffers.size()) - 1;
}

Var Builder::new_var(DType dtype) {
  var_types_.push_back(dtype);
  return kernel_.num_vars++;
}

Stmt& Builder::add(Stmt stmt) {
  Block& block = blocks_.empty() ? kernel_.body : blocks_.back();
  block.push_back(std::move(stmt));
  return block.back();
}

Var Builder::constant_bits(DType dtype, uint64_t bits) {
  const Var v = new_var(dtype);
  add({.code = Code::kConst, .dtype = dtype, .result = v, .literal = bits});
  return v;
}

Var Builder::constant_of(DType dtype, double value) {
  const CastFunction cast = find_cast(DType::kFloat64, dtype);
  RW_CHECK(cast);
  uint64_t bits = 0;
  cast(&value, &bits, 1);
  return constant_bits(dtype, bits);
}

Var Builder::index(const Place& at) {
  const Var v = new_var(DType::kInt64);
  add({.code = Code::kIndex, .dtype = DType::kInt64, .result = v, .at = at});
  return v;
}

Var Builder::load(int32_t buffer, const Place& at) {
  const DType dtype = kernel_.buffers.at(size_t(buffer)).dtype;
  const Var v = new_var(dtype);
  add({.code = Code::kLoad, .dtype = dtype, .result = v, .buffer = buffer, .at = at});
  return v;
}

void Builder::store(int32_t buffer, const Place& at, Var value) {
  add({.code = Code::kStore, .dtype = dtype_of_var(value), .args = {value}, .buffer = buffer, .at = at});
}

Var Builder::op(std::string_view name, std::initializer_list<Var> args) {
  return op(name, args.begin(), args.size());
}

Var Builder::op(std::string_view name, const Var* args, size_t count) {
  RW_CHECK(count > 0);
  if (name == "Select") {
    RW_CHECK(count == 3);
    return select(args[0], args[1], args[2]);
  }
  const ScalarOp* definition = find_scalar_op(name, dtype_of_var(args[0]));
  if (!definition)
    throw InternalError("[loop] no definition of " + std::string(name) + " for " +
                        std::string(name_of(dtype_of_var(args[0]))));
  const Var v = new_var(definition->out);
  add({.code = Code::kOp,
       .dtype = definition->out,
       .result = v,
       .args = SmallVector<Var, 3>(args, args + count),
       .op = definition->name});
  return v;
}

Var Builder::cast(Var x, DType to) {
  if (dtype_of_var(x) == to) return x;
  const Var v = new_var(to);
  add({.code = Code::kOp, .dtype = to, .result = v, .args = {x}, .op = "Cast"});
  return v;
}

Var Builder::select(Var condition, Var x, Var y) {
  const Var v = new_var(dtype_of_var(x));
  add({.code = Code::kOp, .dtype = dtype_of_var(x), .result = v, .args = {condition, x, y}, .op = "Select"});
  return v;
}

int32_t Builder::local(Var initial) {
  const int32_t id = kernel_.num_locals++;
  local_types_.push_back(dtype_of_var(initial));
  add({.code = Code::kLocal, .dtype = local_types_.back(), .args = {initial}, .local = id});
  return id;
}

Var Builder::get(int32_t local) {
  const DType dtype = local_types_.at(size_t(local));
  const Var v = new_var(dtype);
  add({.code = Code::kGet, .dtype = dtype, .result = v, .local = local});
  return v;
}

void Builder::set(int32_t local, Var value) {
  add({.code = Code::kSet, .dtype = dtype_of_var(value), .args = {value}, .local = local});
}

void Builder::fail(int64_t status) { add({.code = Code::kFail, .literal = uint64_t(status)}); }

Index Builder::open(Code code, int64_t extent, LoopKind kind) {
  const int32_t loop = kernel_.num_loops++;
  stack_.push_back({.code = code, .loop = loop, .extent = extent, .kind = kind});
  blocks_.emplace_back();
  return {loop};
}

void Builder::open_block(Code code) {
  stack_.push_back({.code = code});
  blocks_.emplace_back();
}

void Builder::next_block(Var condition) {
  Stmt& stmt = stack_.back();
  if (stmt.code == Code::kWhile) {
    stmt.args.push_back(condition);
    stmt.condition = std::move(blocks_.back());
  } else {
    stmt.other = std::move(blocks_.back());  // the first branch; close() puts both in their places
  }
  blocks_.back() = Block();
}

void Builder::close() {
  Stmt stmt = std::move(stack_.back());
  stmt.body = std::move(blocks_.back());
  if (stmt.code == Code::kIf) std::swap(stmt.body, stmt.other);
  stack_.pop_back();
  blocks_.pop_back();
  add(std::move(stmt));
}

std::vector<Var> Builder::close_reduce(const std::vector<std::pair<Combine, Var>>& values) {
  std::vector<Var> results;
  for (const auto& [combine, value] : values) {
    const DType dtype = dtype_of_var(value);
    const bool small = dtype == DType::kFloat16 || dtype == DType::kBfloat16;
    const DType accumulator = small ? DType::kFloat32 : dtype;
    results.push_back(new_var(accumulator));
    stack_.back().reductions.push_back({combine, accumulator, value, results.back()});
  }
  close();
  return results;
}

Kernel Builder::finish() {
  RW_CHECK(stack_.empty());
  Kernel done = std::move(kernel_);
  *this = Builder();
  verify(done);
  return done;
}

}  // namespace rw::loop
