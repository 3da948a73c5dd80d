#include "rewind/keras/config_fields.h"

#include <algorithm>
#include <cmath>

#include "rewind/base/error.h"
#include "rewind/base/error_note.h"
#include "rewind/keras/dtype_policy.h"
#include "rewind/keras/layers/per_axis.h"
#include "rewind/keras/layers/reshaping.h"
#include "rewind/tensor/literal.h"
#include "rewind/tensor/ops/creation.h"
#include "rewind/tensor/ops/unary.h"

namespace rw::keras {

void fail_config(const std::string& expected, const Config& got) {
  std::string text = to_text(got);
  constexpr size_t kLongest = 120;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  fail_invalid("from_config", "expected " + expected + ": got " + text);
}

// ---- the list
// ----------------------------------------------------------------------------------------------

ConfigFields ConfigFields::writing(Config* object) {
  ConfigFields f;
  f.out_ = object;
  if (object->is_null()) *object = Config::object();
  return f;
}

ConfigFields ConfigFields::reading(const Config& object, std::string what) {
  if (!object.members()) fail_config("the options of " + what + " as an object", object);
  ConfigFields f;
  f.in_ = &object;
  f.what_ = std::move(what);
  return f;
}

void ConfigFields::or_null(const char* name, std::string& value) {
  std::optional<std::string> text = value.empty() ? std::nullopt : std::optional(value);
  (*this)(name, text);
  if (is_reading()) value = text.value_or("");
}

void ConfigFields::only(const char* name, const Config& value) {
  if (out_) return set(name, value);
  const Config* c = take(name);
  if (c && !c->is_null() && !(*c == value))
    fail_unimplemented("from_config",
                       what_ + ": " + name + " must be " + to_text(value) + ": got " + to_text(*c));
}

void ConfigFields::set(const char* name, Config value) {
  if (out_) (*out_)[name] = std::move(value);
}

const Config* ConfigFields::take(const char* name) {
  if (!in_) return nullptr;
  taken_.emplace_back(name);
  return in_->find(name);
}

void ConfigFields::read(const char* name, const std::function<void()>& f) const {
  try {
    f();
  } catch (const Error& e) {
    throw_with_note(e, "; in the option " + std::string(name) + " of " + what_, {"; in the option "});
  }
}

void ConfigFields::finish() const {
  if (!in_) return;
  for (const auto& [name, value] : *in_->members()) {
    if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) continue;
    if (value.is_null() || (value.boolean() && !*value.boolean())) continue;
    fail_invalid("from_config",
                 what_ + " has no option \"" + name + "\", which the config sets to " + to_text(value));
  }
}

Config Origin::serialized(const char* module) const {
  const std::string registered = registered_name();
  Config out;
  out["module"] = registered.empty() ? Config(module) : Config();
  out["class_name"] = class_name();
  ConfigFields f = ConfigFields::writing(&out["config"]);
  write(f);
  out["registered_name"] = registered.empty() ? Config() : Config(registered);
  return out;
}

// ---- plain values
// ------------------------------------------------------------------------------------------

Config to_config(DType v) { return std::string(name_of(v)); }
void from_config(const Config& c, DType* v) {
  const std::string* name = c.text();
  const DType dtype = name ? parse_dtype(*name) : DType::kInvalid;
  if (dtype == DType::kInvalid) fail_config("the name of a dtype", c);
  *v = dtype;
}

void from_config(const Config& c, bool* v) {
  if (const bool* b = c.boolean()) *v = *b;
  else if (const int64_t* i = c.integer(); i && (*i == 0 || *i == 1)) *v = *i == 1;
  else fail_config("true or false", c);
}
void from_config(const Config& c, int64_t* v) {
  constexpr double kExact = 9007199254740992.0;
  if (const int64_t* i = c.integer()) *v = *i;
  else if (const double* r = c.real(); r && std::abs(*r) < kExact && *r == std::floor(*r)) *v = int64_t(*r);
  else fail_config("a whole number", c);
}
void from_config(const Config& c, int* v) {
  int64_t wide = 0;
  from_config(c, &wide);
  if (wide != int64_t(int(wide))) fail_config("a number of 32 bits", c);
  *v = int(wide);
}
void from_config(const Config& c, double* v) {
  if (const int64_t* i = c.integer()) *v = double(*i);
  else if (const double* r = c.real()) *v = *r;
  else fail_config("a number", c);
}
void from_config(const Config& c, std::string* v) {
  if (!c.text()) fail_config("text", c);
  *v = *c.text();
}

Config to_config(const Shape& v) {
  if (!v.has_rank()) return nullptr;
  Config::Array list;
  for (int i = 0; i < v.rank(); ++i) list.push_back(v[i] < 0 ? Config() : Config(v[i]));
  return list;
}
void from_config(const Config& c, Shape* v) {
  if (!c.list() || c.list()->size() > size_t(Shape::kMaxRank)) fail_config("a shape, a list of sizes", c);
  std::vector<int64_t> sizes;
  for (const Config& size : *c.list()) {
    int64_t n = Shape::kUnknown;
    if (!size.is_null()) from_config(size, &n);
    if (n < -1) fail_config("a shape, a list of sizes", c);
    sizes.push_back(n);
  }
  *v = Shape(sizes);
}

Config to_config(const DTypePolicy& v) {
  Config out;
  out["module"] = "keras";
  out["class_name"] = "DTypePolicy";
  out["config"]["name"] = v.name();
  out["registered_name"] = Config();
  return out;
}
// Also "float32" alone, and the policies of older versions.
void from_config(const Config& c, DTypePolicy* v) {
  if (c.is_null()) return;
  const Config* inner = c.find("config");
  const Config* name = inner ? inner->find("name") : &c;
  const Config* kind = c.find("class_name");
  const bool known = !kind || (kind->text() && (*kind->text() == "DTypePolicy" || *kind->text() == "Policy" ||
                                                *kind->text() == "FloatDTypePolicy"));
  if (!known || !name || !name->text()) fail_config("a dtype policy", c);
  *v = DTypePolicy(*name->text());
}

// ---- amounts for axes
// --------------------------------------------------------------------------------------

Config to_config(const PerAxis& v) { return v.empty() ? Config() : to_config(v.list()); }
void from_config(const Config& c, PerAxis* v) {
  std::vector<int64_t> list;
  if (!c.is_null()) from_config(c, &list);
  *v = PerAxis(std::move(list));
}

Config to_config(const SpatialPairs& v) {
  Config::Array list;
  for (const auto& [before, after] : v.list()) list.push_back(Config::Array{before, after});
  return list;
}
void from_config(const Config& c, SpatialPairs* v) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const Config::Array one{c};
  for (const Config& x : c.list() ? *c.list() : one) {
    std::vector<int64_t> amounts;
    from_config(x, &amounts);
    if (amounts.empty() || amounts.size() > 2) fail_config("a number or a pair for each axis", c);
    pairs.emplace_back(amounts.front(), amounts.back());
  }
  *v = SpatialPairs(std::move(pairs));
}

// ---- tensors
// -----------------------------------------------------------------------------------------------

namespace {

Config nested(const double* values, const Shape& shape, int axis, int64_t* at) {
  if (axis == shape.rank()) return values[(*at)++];
  Config::Array list;
  for (int64_t i = 0; i < shape[axis]; ++i) list.push_back(nested(values, shape, axis + 1, at));
  return list;
}

void flatten(const Config& c, size_t axis, std::vector<int64_t>* sizes, std::vector<double>* values) {
  constexpr size_t kMaxRank = 32;
  const Config::Array* list = c.list();
  if (!list) {
    if (axis != sizes->size()) fail_config("lists of one length", c);
    double value = 0;
    if (c.boolean()) value = *c.boolean();
    else from_config(c, &value);
    values->push_back(value);
    return;
  }
  if (axis == sizes->size() && values->empty() && axis < kMaxRank) sizes->push_back(int64_t(list->size()));
  if (axis >= sizes->size() || (*sizes)[axis] != int64_t(list->size())) fail_config("lists of one length", c);
  for (const Config& x : *list) flatten(x, axis + 1, sizes, values);
}

}  // namespace

// Nested lists of numbers.
Config to_config(const Tensor& v) {
  if (!v.defined()) return nullptr;
  const std::vector<double> values = cast(v, DType::kFloat64).to_vector<double>();
  int64_t at = 0;
  return nested(values.data(), v.shape(), 0, &at);
}
static void read_tensor(const Config& c, DType dtype, Tensor* v) {
  if (c.is_null()) {
    *v = Tensor();
    return;
  }
  const Config* inner = c.find("config");
  const Config* value = inner ? inner->find("value") : &c;
  if (!value) fail_config("numbers", c);
  std::vector<int64_t> sizes;
  std::vector<double> values;
  flatten(*value, 0, &sizes, &values);
  if (const Config* name = inner ? inner->find("dtype") : nullptr) from_config(*name, &dtype);
  *v = cast(constant(values, Shape(sizes)), dtype);
}
// Also an array or tensor with its dtype.
void from_config(const Config& c, Tensor* v) { read_tensor(c, DType::kFloat32, v); }
void exact_from_config(const Config& c, Tensor* v) { read_tensor(c, DType::kFloat64, v); }

}  // namespace rw::keras
