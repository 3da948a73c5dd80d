// The value types with which base/math's functions emit instructions instead of computing: IrFloat<float>,
// IrFloat<double>, their bits and conditions. Included before the definitions that use them.
//
// What is emitted goes where the thread's current EmitScope says, as scalars or vectors of its lanes.
#pragma once

#include <cstdint>
#include <cstring>

#include "rewind/base/function_ref.h"
#include "rewind/base/math/primitives.h"

namespace llvm {
class Value;
}

namespace rw::emit {

using llvm::Value;

Value* float_literal(bool is_double, double v);
Value* bits_literal(bool is_double, uint64_t v);
Value* binary(char op, Value* a, Value* b);  // + - * / of floats; + - * & | ^ of integers
Value* shift(Value* a, int count);           // left, or right (logical) by -count
Value* compare(const char* op, Value* a,
               Value* b);  // < <= > >= == !=; floats ordered but !=, integers unsigned
Value* logic_not(Value* a);
Value* negate(Value* a);
Value* choose_value(Value* c, Value* a, Value* b);
Value* call_intrinsic(const char* name, Value* a, Value* b = nullptr, Value* c = nullptr);
Value* to_bits(Value* a);
Value* to_float(Value* a);
Value* resize_float(bool to_double, Value* a);
Value* resize_bits(bool to_double, Value* a);
Value* table_value(const double* table, Value* index);
// A loop of at most `count` rounds over n values; step changes them and answers which lanes go on.
void repeat_loop(int count, Value** state, int n, FunctionRef<Value*(Value**)> step);
// fast() where the condition holds in all lanes, else slow().
Value* branch_if_all(Value* condition, FunctionRef<Value*()> fast, FunctionRef<Value*()> slow);

}  // namespace rw::emit

namespace rw::scalar {

struct IrBool {
  emit::Value* v = nullptr;
};

template <class F>
struct IrBits {
  emit::Value* v = nullptr;
};

template <class F>
struct IrFloat {
  emit::Value* v = nullptr;
  IrFloat() = default;
  explicit IrFloat(double c) : v(emit::float_literal(sizeof(F) == 8, c)) {}
  static IrFloat of(emit::Value* v) {
    IrFloat f;
    f.v = v;
    return f;
  }
};

template <class F>
struct Traits<IrFloat<F>> {
  using Bits = IrBits<F>;
  using Wide = IrFloat<double>;
  static constexpr bool kIsDouble = Traits<F>::kIsDouble;
  static constexpr int kMantissa = Traits<F>::kMantissa;
  static constexpr int kBias = Traits<F>::kBias;
};

template <class F>
struct Literal<IrFloat<F>> {
  static IrFloat<F> value(double v) { return IrFloat<F>(v); }
  static IrBits<F> bits(uint64_t v) { return {emit::bits_literal(sizeof(F) == 8, v)}; }
};

#define RW_IR_BINARY(op, text)                           \
  template <class F>                                     \
  IrFloat<F> operator op(IrFloat<F> a, IrFloat<F> b) {   \
    return IrFloat<F>::of(emit::binary(text, a.v, b.v)); \
  }
RW_IR_BINARY(+, '+')
RW_IR_BINARY(-, '-')
RW_IR_BINARY(*, '*')
RW_IR_BINARY(/, '/')
#undef RW_IR_BINARY

#define RW_IR_BITS(op, text)                        \
  template <class F>                                \
  IrBits<F> operator op(IrBits<F> a, IrBits<F> b) { \
    return {emit::binary(text, a.v, b.v)};          \
  }
RW_IR_BITS(+, '+')
RW_IR_BITS(-, '-')
RW_IR_BITS(*, '*')
RW_IR_BITS(&, '&')
RW_IR_BITS(|, '|')
RW_IR_BITS(^, '^')
#undef RW_IR_BITS

#define RW_IR_COMPARE(op)                          \
  template <class F>                               \
  IrBool operator op(IrFloat<F> a, IrFloat<F> b) { \
    return {emit::compare(#op, a.v, b.v)};         \
  }
RW_IR_COMPARE(<)
RW_IR_COMPARE(<=)
RW_IR_COMPARE(>)
RW_IR_COMPARE(>=)
RW_IR_COMPARE(==)
RW_IR_COMPARE(!=)
#undef RW_IR_COMPARE

template <class F>
IrFloat<F> operator-(IrFloat<F> a) {
  return IrFloat<F>::of(emit::negate(a.v));
}
template <class F>
IrBits<F> operator<<(IrBits<F> a, int count) {
  return {emit::shift(a.v, count)};
}
template <class F>
IrBits<F> operator>>(IrBits<F> a, int count) {
  return {emit::shift(a.v, -count)};
}
template <class F>
IrBool operator==(IrBits<F> a, IrBits<F> b) {
  return {emit::compare("==", a.v, b.v)};
}
template <class F>
IrBool operator<(IrBits<F> a, IrBits<F> b) {
  return {emit::compare("<", a.v, b.v)};
}

inline IrBool operator&(IrBool a, IrBool b) { return {emit::binary('&', a.v, b.v)}; }
inline IrBool both(IrBool a, IrBool b) { return a & b; }
inline IrBool either(IrBool a, IrBool b) { return {emit::binary('|', a.v, b.v)}; }
inline IrBool opposite(IrBool a) { return {emit::logic_not(a.v)}; }

template <class F>
IrFloat<F> select(IrBool c, IrFloat<F> a, IrFloat<F> b) {
  return IrFloat<F>::of(emit::choose_value(c.v, a.v, b.v));
}
template <class F>
IrBits<F> select(IrBool c, IrBits<F> a, IrBits<F> b) {
  return {emit::choose_value(c.v, a.v, b.v)};
}
template <class F>
IrFloat<F> blend(IrBool c, IrFloat<F> a, IrFloat<F> b) {
  return select(c, a, b);
}

template <class F>
IrBits<F> bits(IrFloat<F> x) {
  return {emit::to_bits(x.v)};
}
template <class F>
IrFloat<F> from_bits(IrBits<F> i) {
  return IrFloat<F>::of(emit::to_float(i.v));
}
template <class F>
IrFloat<double> widen(IrFloat<F> x) {
  return IrFloat<double>::of(emit::resize_float(true, x.v));
}
template <class T>
T narrow(IrFloat<double> x) {
  return T::of(emit::resize_float(kIsDouble<T>, x.v));
}
template <class F>
IrBits<double> widen_bits(IrBits<F> i) {
  return {emit::resize_bits(true, i.v)};
}
template <class T>
Bits<T> narrow_bits(IrBits<double> i) {
  return {emit::resize_bits(kIsDouble<T>, i.v)};
}

#define RW_IR_UNARY(name)                                    \
  template <class F>                                         \
  IrFloat<F> name(IrFloat<F> x) {                            \
    return IrFloat<F>::of(emit::call_intrinsic(#name, x.v)); \
  }
RW_IR_UNARY(sqrt)
RW_IR_UNARY(abs)
RW_IR_UNARY(floor)
RW_IR_UNARY(ceil)
RW_IR_UNARY(trunc)
RW_IR_UNARY(rint)
#undef RW_IR_UNARY
template <class F>
IrFloat<F> copysign(IrFloat<F> x, IrFloat<F> s) {
  return IrFloat<F>::of(emit::call_intrinsic("copysign", x.v, s.v));
}
template <class F>
IrFloat<F> fma(IrFloat<F> a, IrFloat<F> b, IrFloat<F> c) {
  return IrFloat<F>::of(emit::call_intrinsic("fma", a.v, b.v, c.v));
}

inline IrFloat<double> lookup(const double* table, IrBits<double> index) {
  return IrFloat<double>::of(emit::table_value(table, index.v));
}

// A state is an aggregate of IrFloats.
template <int count, class State, class Step>
State emit_repeat(State state, Step step) {
  constexpr int kValues = sizeof(State) / sizeof(emit::Value*);
  emit::Value* values[kValues];
  std::memcpy(values, static_cast<const void*>(&state), sizeof(State));
  emit::repeat_loop(count, values, kValues, [&](emit::Value** now) {
    State s;
    std::memcpy(static_cast<void*>(&s), now, sizeof(State));
    const IrBool more = step(s);
    std::memcpy(now, static_cast<const void*>(&s), sizeof(State));
    return more.v;
  });
  std::memcpy(static_cast<void*>(&state), values, sizeof(State));
  return state;
}

}  // namespace rw::scalar
