#include "tests/support/case_io.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace rw::test {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T v;
    std::memcpy(&v, take(sizeof(T)).data(), sizeof(T));
    return v;
  }
  std::string text() { return std::string(take(get<uint32_t>())); }
  std::string_view take(size_t n) {
    if (n > bytes_.size()) throw std::runtime_error("test case: the bytes end early");
    auto part = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return part;
  }
  // A count of items that take at least one byte each.
  uint32_t count() {
    auto n = get<uint32_t>();
    if (n > bytes_.size()) throw std::runtime_error("test case: impossible count");
    return n;
  }

 private:
  std::string_view bytes_;
};

size_t bytes_of(DType dtype) { return dtype == DType::kString ? 0 : size_of(dtype); }

Array read_tensor(Reader& r) {
  Array a;
  a.dtype = DType(r.get<uint32_t>());
  a.dims.resize(r.count());
  for (auto& d : a.dims) d = r.get<int64_t>();
  if (a.dtype == DType::kString) {
    a.strings.resize(size_t(a.size()));
    for (auto& s : a.strings) s = r.text();
  } else {
    a.bytes = r.take(size_t(a.size()) * bytes_of(a.dtype));
  }
  return a;
}

std::optional<Array> read_maybe(Reader& r) {
  if (!r.get<uint8_t>()) return std::nullopt;
  return read_tensor(r);
}

CaseAttr read_attr(Reader& r) {
  CaseAttr a;
  a.name = r.text();
  a.inferred = r.get<uint8_t>();
  auto kind = r.get<uint8_t>();
  a.list = kind >= 16;
  a.kind = AttrKind(kind & 15);
  uint32_t n = a.list ? r.count() : 1;
  for (uint32_t i = 0; i < n; ++i) {
    switch (a.kind) {
      case AttrKind::kInt: a.ints.push_back(r.get<int64_t>()); break;
      case AttrKind::kFloat: a.floats.push_back(r.get<double>()); break;
      case AttrKind::kBool: a.ints.push_back(r.get<uint8_t>()); break;
      case AttrKind::kString: a.strings.push_back(r.text()); break;
      case AttrKind::kType: a.ints.push_back(r.get<uint32_t>()); break;
      case AttrKind::kShape: {
        auto rank = r.get<int32_t>();
        std::optional<std::vector<int64_t>> dims;
        if (rank >= 0) dims.emplace();
        for (int k = 0; k < rank; ++k) dims->push_back(r.get<int64_t>());
        a.shapes.push_back(std::move(dims));
        break;
      }
      case AttrKind::kTensor: a.tensors.push_back(read_tensor(r)); break;
      default: throw std::runtime_error("test case: unknown attribute kind");
    }
  }
  return a;
}

Call read_call(Reader& r) {
  Call c;
  c.op = r.text();
  for (uint32_t n = r.count(); n > 0; --n) c.attrs.push_back(read_attr(r));
  for (uint32_t n = r.count(); n > 0; --n) {
    Input in;
    in.kind = Input::Kind(r.get<uint8_t>());
    if (in.kind == Input::kCall) {
      in.call = std::make_shared<Call>(read_call(r));
      in.output = r.get<uint32_t>();
    } else {
      in.value = read_tensor(r);
    }
    c.inputs.push_back(std::move(in));
  }
  return c;
}

Case read_case(Reader& r) {
  Case c;
  c.label = r.text();
  auto flags = r.get<uint32_t>();
  c.smooth = flags & 1;
  c.expect_error = flags & 2;
  c.differentiable = flags & 4;
  c.tolerance.scaled = flags & 8;
  c.twice = flags & 16;
  for (double* v :
       {&c.tolerance.ulp, &c.tolerance.abs_ulp, &c.tolerance.rtol, &c.tolerance.atol, &c.tolerance.gradient})
    *v = r.get<double>();
  for (uint32_t n = r.count(); n > 0; --n) c.checks.push_back(Check(r.get<uint8_t>()));
  c.call = read_call(r);
  for (uint32_t n = r.count(); n > 0; --n) c.output_gradients.push_back(read_maybe(r));
  for (uint32_t n = r.count(); n > 0; --n) c.wanted.push_back(r.get<uint32_t>());
  return c;
}

Result read_result(Reader& r) {
  Result x;
  x.failed = r.get<uint8_t>();
  if (x.failed) {
    x.error = r.text();
    x.message = r.text();
    return x;
  }
  for (auto* part : {&x.outputs, &x.gradients})
    for (uint32_t n = r.count(); n > 0; --n) part->push_back(read_maybe(r));
  return x;
}

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof(T));
}

void put_text(std::string& out, std::string_view s) {
  put(out, uint32_t(s.size()));
  out += s;
}

void put_maybe(std::string& out, const std::optional<Array>& a) {
  put(out, uint8_t(a.has_value()));
  if (!a) return;
  put(out, uint32_t(a->dtype));
  put(out, uint32_t(a->dims.size()));
  for (auto d : a->dims) put(out, d);
  out += a->bytes;
  for (auto& s : a->strings) put_text(out, s);
}

template <class T>
double load(const std::string& bytes, int64_t i) {
  T v;
  std::memcpy(&v, bytes.data() + size_t(i) * sizeof(T), sizeof(T));
  return double(v);
}
template <class T>
void store(std::string& bytes, int64_t i, double value) {
  T v = T(value);
  std::memcpy(bytes.data() + size_t(i) * sizeof(T), &v, sizeof(T));
}

// Calls f.template operator()<T>() with the type of one component.
template <class F>
auto with_component(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return f.template operator()<float>();
    case DType::kFloat64:
    case DType::kComplex128: return f.template operator()<double>();
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBfloat16: return f.template operator()<Bfloat16>();
    case DType::kInt8: return f.template operator()<int8_t>();
    case DType::kInt16: return f.template operator()<int16_t>();
    case DType::kInt32: return f.template operator()<int32_t>();
    case DType::kInt64: return f.template operator()<int64_t>();
    case DType::kUint8: return f.template operator()<uint8_t>();
    case DType::kUint16: return f.template operator()<uint16_t>();
    case DType::kUint32: return f.template operator()<uint32_t>();
    case DType::kUint64: return f.template operator()<uint64_t>();
    case DType::kBool: return f.template operator()<uint8_t>();
    default: throw std::runtime_error("test case: no numbers in " + std::string(name_of(dtype)));
  }
}

void collect(Call& call, std::vector<Input*>& found) {
  for (auto& in : call.inputs) {
    if (in.kind == Input::kCall) collect(*in.call, found);
    else found.push_back(&in);
  }
}

void own(Call& call) {
  for (auto& in : call.inputs) {
    if (in.kind != Input::kCall) continue;
    in.call = std::make_shared<Call>(*in.call);
    own(*in.call);
  }
}

}  // namespace

int64_t Array::size() const {
  int64_t n = 1;
  for (auto d : dims) n *= d;
  return n;
}

int64_t Array::num_components() const { return contains(kComplexTypes, dtype) ? 2 * size() : size(); }

double Array::component(int64_t i) const {
  return with_component(dtype, [&]<class T>() { return load<T>(bytes, i); });
}

void Array::set_component(int64_t i, double value) {
  with_component(dtype, [&]<class T>() { store<T>(bytes, i, value); });
}

std::string Array::describe() const {
  std::string s = std::string(name_of(dtype)) + "(";
  for (size_t i = 0; i < dims.size(); ++i) s += (i ? ", " : "") + std::to_string(dims[i]);
  return s + ")";
}

Array make_array(DType dtype, std::vector<int64_t> dims) {
  Array a;
  a.dtype = dtype;
  a.dims = std::move(dims);
  if (dtype == DType::kString) a.strings.resize(size_t(a.size()));
  else a.bytes.resize(size_t(a.size()) * bytes_of(dtype));
  return a;
}

Array convert(const Array& from, DType dtype) {
  if (from.dtype == dtype) return from;
  Array to = make_array(dtype, from.dims);
  int64_t step_from = contains(kComplexTypes, from.dtype) ? 2 : 1,
          step_to = contains(kComplexTypes, dtype) ? 2 : 1;
  for (int64_t i = 0; i < from.size(); ++i) {
    to.set_component(i * step_to, from.component(i * step_from));
    if (step_from == 2 && step_to == 2) to.set_component(2 * i + 1, from.component(2 * i + 1));
  }
  return to;
}

Case read_case(std::string_view bytes) {
  Reader r(bytes);
  return read_case(r);
}

std::string write_result(const Result& result) {
  std::string out;
  put(out, uint8_t(result.failed));
  if (result.failed) {
    put_text(out, result.error);
    put_text(out, result.message);
    return out;
  }
  for (auto* part : {&result.outputs, &result.gradients}) {
    put(out, uint32_t(part->size()));
    for (auto& a : *part) put_maybe(out, a);
  }
  return out;
}

std::vector<Golden> read_goldens(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Reader r(bytes);
  if (r.take(4) != "RWG1") throw std::runtime_error(path + " is not a golden file");
  std::vector<Golden> found(r.count());
  for (auto& g : found) {
    Reader one(r.take(r.get<uint32_t>()));
    g.input = read_case(one);
    g.want = read_result(one);
  }
  return found;
}

std::vector<Input*> leaves(Call& call) {
  std::vector<Input*> found;
  collect(call, found);
  return found;
}

std::vector<std::string> ops_of(const Call& call) {
  std::vector<std::string> found{call.op};
  for (auto& in : call.inputs) {
    if (in.kind != Input::kCall) continue;
    auto more = ops_of(*in.call);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

Case clone(const Case& c) {
  Case copy = c;
  own(copy.call);
  return copy;
}

}  // namespace rw::test
