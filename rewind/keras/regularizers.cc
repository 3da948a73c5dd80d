#include "rewind/keras/regularizers.h"

#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/keras/arithmetic.h"
#include "rewind/keras/registry.h"
#include "rewind/tensor/ops/binary.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/matmul.h"
#include "rewind/tensor/ops/reduce.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

Regularizer::Regularizer(const char* name) : Regularizer(regularizers::get(name)) {}
Regularizer::Regularizer(const std::string& name) : Regularizer(regularizers::get(name)) {}
Tensor Regularizer::operator()(const Tensor& x) const { return call_ ? (*call_)(x) : zeros({}, x.dtype()); }

namespace regularizers {
namespace {

void check_factor(const char* tag, double value) {
  if (!std::isfinite(value) || value < 0)
    fail_invalid(tag, "the factor must be a non-negative number: it is " + number_text(value));
}

Tensor orthogonality(const Tensor& x, const OrthogonalOptions& o) {
  if (x.rank() != 2)
    fail_invalid("OrthogonalRegularizer", "the weight must have two axes: it is " + x.shape().to_string());
  const bool rows = o.mode == "rows";
  const Tensor unit = normalized(x, rows ? 1 : 0);
  const Tensor product = matmul(unit, unit, {.transpose_a = !rows, .transpose_b = rows});
  const int64_t size = x.dim(rows ? 0 : 1);
  const Tensor others = product * (1.0 - eye(size, {.dtype = x.dtype()}));
  const double pairs = double(size) * (double(size) - 1.0) / 2.0;
  return o.factor * 0.5 * reduce_sum(abs(others)) / pairs;
}

// ---- configs

struct L1Arguments {
  static constexpr const char* kName = "L1";
  double l1 = 0.01;
  Regularizer make() const { return L1(l1); }
};
void fields(ConfigFields& f, L1Arguments& a) { f("l1", a.l1); }
struct L2Arguments {
  static constexpr const char* kName = "L2";
  double l2 = 0.01;
  Regularizer make() const { return L2(l2); }
};
void fields(ConfigFields& f, L2Arguments& a) { f("l2", a.l2); }
struct L1L2Arguments {
  static constexpr const char* kName = "L1L2";
  L1L2Options options = {};
  Regularizer make() const { return L1L2(options); }
};
void fields(ConfigFields& f, L1L2Arguments& a) {
  f("l1", a.options.l1);
  f("l2", a.options.l2);
}
struct OrthogonalArguments {
  static constexpr const char* kName = "OrthogonalRegularizer";
  OrthogonalOptions options = {};
  Regularizer make() const { return OrthogonalRegularizer(options); }
};
void fields(ConfigFields& f, OrthogonalArguments& a) {
  f("factor", a.options.factor);
  f("mode", a.options.mode);
}

}  // namespace

Regularizer L1(double l1) {
  check_factor("L1", l1);
  return with_origin(Regularizer([l1](const Tensor& x) { return l1 * reduce_sum(abs(x)); }), L1Arguments{l1});
}
Regularizer L2(double l2) {
  check_factor("L2", l2);
  return with_origin(Regularizer([l2](const Tensor& x) { return l2 * reduce_sum(square(x)); }),
                     L2Arguments{l2});
}
Regularizer L1L2(const L1L2Options& o) {
  check_factor("L1L2", o.l1);
  check_factor("L1L2", o.l2);
  const Regularizer penalty = [o](const Tensor& x) {
    if (o.l1 == 0 && o.l2 == 0) return zeros({}, x.dtype());
    if (o.l1 == 0) return o.l2 * reduce_sum(square(x));
    const Tensor first = o.l1 * reduce_sum(abs(x));
    return o.l2 == 0 ? first : first + o.l2 * reduce_sum(square(x));
  };
  return with_origin(penalty, L1L2Arguments{o});
}
Regularizer OrthogonalRegularizer(const OrthogonalOptions& o) {
  check_factor("OrthogonalRegularizer", o.factor);
  if (o.mode != "rows" && o.mode != "columns")
    fail_invalid("OrthogonalRegularizer", "mode must be rows or columns: it is " + o.mode);
  return with_origin(Regularizer([o](const Tensor& x) { return orthogonality(x, o); }),
                     OrthogonalArguments{o});
}

Regularizer get(const std::string& name) {
  if (name == "L1" || name == "l1") return L1();
  if (name == "L2" || name == "l2") return L2();
  if (name == "L1L2" || name == "l1_l2" || name == "l1l2") return L1L2();
  if (name == "OrthogonalRegularizer" || name == "orthogonal_regularizer") return OrthogonalRegularizer();
  fail_invalid("regularizers.get",
               "there is no regularizer \"" + name + "\"; known are l1, l2, l1_l2, orthogonal_regularizer");
}

}  // namespace regularizers

Config to_config(const Regularizer& v) {
  if (!v) return nullptr;
  if (!v.origin())
    fail_unimplemented("get_config",
                       "a regularizer that is a function has no config: register it by "
                       "keras::saving::register_keras_serializable(package, name, regularizer)");
  return v.origin()->serialized("keras.regularizers");
}
void from_config(const Config& c, Regularizer* v) {
  *v = c.is_null() ? Regularizer()
                   : object_from(c, class_registry().regularizers, "regularizer", regularizers::get);
}

void add_regularizer_classes(ClassRegistry& r) {
  using namespace regularizers;
  add_class<L1Arguments>(r.regularizers);
  add_class<L2Arguments>(r.regularizers);
  add_class<L1L2Arguments>(r.regularizers);
  add_class<OrthogonalArguments>(r.regularizers);
}

}  // namespace rw::keras
