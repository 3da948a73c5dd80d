#include "tests/support/mutate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rw::test {
namespace {

using Rng = std::mt19937;
// Sanitizers leave no room for a limit on memory, so there no size is one that might just fit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kMightFit = std::numeric_limits<int32_t>::min();
#else
constexpr int64_t kMightFit = std::numeric_limits<int32_t>::max();
#endif
constexpr int64_t kHuge[] = {kMightFit,
                             std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min(),
                             std::numeric_limits<int64_t>::min() + 1,
                             int64_t{1} << 40,
                             int64_t{1} << 62,
                             (int64_t{1} << 32) + 1,
                             int64_t{3037000500},  // the square leaves int64
                             46341,                // the square leaves int32
                             std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::min() + 1};
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16,
                            DType::kInt32,   DType::kInt64,   DType::kInt8,    DType::kInt16,
                            DType::kUint8,   DType::kUint16,  DType::kUint32,  DType::kUint64,
                            DType::kBool,    DType::kString};

size_t below(Rng& rng, size_t n) { return n ? rng() % n : 0; }
template <class C>
auto pick(Rng& rng, const C& c) {
  return c[below(rng, std::size(c))];
}
int64_t odd_int(Rng& rng) {
  constexpr int64_t kSmall[] = {-1, 0, 1, 2, -2, 3, 7, 100, -100};
  return below(rng, 2) ? pick(rng, kSmall) : pick(rng, kHuge);
}
double odd_float(Rng& rng) {
  const double values[] = {NAN,     INFINITY, -INFINITY,    0,      -0.0,    -1,     1e30,
                           -1e30,   1e-30,    0.5,          1e-40,  -1e-45,  5e-324, 1.7e308,
                           -3.4e38, 6.6e4,    2147483648.0, 9.3e18, -9.3e18, 1e19};
  return pick(rng, values);
}

// The same numbers in another type; a bool is 0 or 1.
Array in_type(const Array& a, DType t) {
  if (t == DType::kString || a.dtype == DType::kString) return make_array(t, a.dims);
  Array b = convert(a, t);
  if (t == DType::kBool)
    for (char& c : b.bytes) c = char(c != 0);
  return b;
}

// New sizes, old elements repeated: the values stay plausible.
void reshape(Array& a, std::vector<int64_t> dims) {
  Array old = std::move(a);
  a = make_array(old.dtype, std::move(dims));
  if (old.size() == 0) return;
  if (a.dtype == DType::kString) {
    for (size_t i = 0; i < a.strings.size(); ++i) a.strings[i] = old.strings[i % old.strings.size()];
  } else {
    for (size_t i = 0; i < a.bytes.size(); ++i) a.bytes[i] = old.bytes[i % old.bytes.size()];
  }
}

// A number, flag or text that calls rarely have, at component i.
std::string set_odd_element(Array& a, size_t i, Rng& rng) {
  if (a.dtype == DType::kString) {
    const std::string odd[] = {"",         std::string(1, '\0'),
                               "\xff\xfe", std::string(5000, 'x'),
                               "-1",       "nan",
                               "1e999",    "{}{}{}",
                               "%s%n",     "%9$d"};
    a.strings[i] = pick(rng, odd);
    return "an odd string";
  }
  if (a.bytes.empty()) return "nothing";
  if (is_floating(a.dtype) || contains(kComplexTypes, a.dtype)) {
    const double v = odd_float(rng);
    a.set_component(int64_t(i), v);
    return "element " + std::to_string(i) + " is " + std::to_string(v);
  }
  if (a.dtype == DType::kBool) {
    a.bytes[i] = char(1 - a.bytes[i]);
    return "a flipped bool";
  }
  // Low bytes of the number, so that each width gets a value of its own range.
  const int64_t v = odd_int(rng);
  const size_t width = a.bytes.size() / size_t(a.size());
  for (size_t k = 0; k < width; ++k) a.bytes[i * width + k] = char(uint64_t(v) >> (8 * k));
  return "element " + std::to_string(i) + " is the low part of " + std::to_string(v);
}

std::string mutate_array(Array& a, Rng& rng) {
  switch (below(rng, 8)) {
    case 0: {
      DType t = pick(rng, kTypes);
      Array b = make_array(t, a.dims);
      if (t != DType::kString && a.dtype != DType::kString &&
          (is_differentiable(t) || !is_differentiable(a.dtype)))
        b = in_type(a, t);
      a = std::move(b);
      return "dtype " + std::string(name_of(t));
    }
    case 1: {
      auto dims = a.dims;
      dims.insert(dims.begin() + int64_t(below(rng, dims.size() + 1)), 1 + int64_t(below(rng, 2)));
      reshape(a, dims);
      return "one axis more, " + a.describe();
    }
    case 2: {
      auto dims = a.dims;
      if (!dims.empty()) dims.erase(dims.begin() + int64_t(below(rng, dims.size())));
      reshape(a, dims);
      return "one axis less, " + a.describe();
    }
    case 3: {
      auto dims = a.dims;
      constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 17};
      if (dims.empty()) dims.push_back(pick(rng, kSizes));
      else dims[below(rng, dims.size())] = pick(rng, kSizes);
      reshape(a, dims);
      return "sizes " + a.describe();
    }
    case 4: {
      std::vector<int64_t> dims(below(rng, 9), 1);
      reshape(a, dims);
      return "sizes " + a.describe();
    }
    case 5: reshape(a, {0}); return "empty";
    default: break;
  }
  if (a.size() == 0) return "nothing";
  if (below(rng, 4)) return set_odd_element(a, below(rng, size_t(a.num_components())), rng);
  std::string what;  // several places, or all
  const size_t n = size_t(a.num_components()), step = below(rng, 2) ? 1 : 1 + below(rng, 3);
  for (size_t i = 0, k = 0; i < n && k < 64; i += step, ++k) what = set_odd_element(a, i, rng);
  return "many elements, " + what;
}

std::string mutate_input(Call& call, size_t k, Rng& rng) {
  Input& in = call.inputs[k];
  if (in.kind == Input::kCall) {
    if (below(rng, 2) || in.call->inputs.empty()) {
      in.output += 1;
      return "another output of " + in.call->op;
    }
    return in.call->op + " " + mutate_input(*in.call, below(rng, in.call->inputs.size()), rng);
  }
  if (below(rng, 12) == 0) {
    in.kind = in.kind == Input::kVariable ? Input::kTensor : Input::kVariable;
    return in.kind == Input::kVariable ? "a variable" : "a tensor instead of a variable";
  }
  return mutate_array(in.value, rng);
}

// All leaves of one type get another one, so that the call may still agree with itself.
std::string mutate_types(Call& call, Rng& rng) {
  const auto found = leaves(call);
  if (found.empty()) return "nothing";
  const DType from = found[below(rng, found.size())]->value.dtype, to = pick(rng, kTypes);
  for (Input* in : found) {
    if (in->value.dtype != from) continue;
    in->value = in_type(in->value, to);
  }
  return "dtype " + std::string(name_of(from)) + " becomes " + std::string(name_of(to));
}

// The same change of shape to all leaves.
std::string mutate_all(Call& call, Rng& rng) {
  const size_t how = below(rng, 4), at = below(rng, 4);
  const int64_t size = int64_t(below(rng, 3));
  for (Input* in : leaves(call)) {
    auto dims = in->value.dims;
    if (how == 0) dims.insert(dims.begin(), size);
    else if (how == 1 && !dims.empty()) dims.erase(dims.begin());
    else if (how == 2 && at < dims.size()) dims[at] = size;
    else if (how == 3) dims.clear();
    reshape(in->value, dims);
  }
  return "all shapes changed";
}

std::string mutate_whole(Call& call, Rng& rng) {
  auto& ins = call.inputs;
  switch (below(rng, 7)) {
    case 4: return mutate_types(call, rng);
    case 5: return mutate_all(call, rng);
    case 6:
      if (ins.empty()) break;
      ins.push_back(ins[below(rng, ins.size())]);
      std::swap(ins.back(), ins[below(rng, ins.size())]);
      return "one input twice";
    case 0:
      if (ins.empty()) break;
      ins.erase(ins.begin() + int64_t(below(rng, ins.size())));
      return "one input less";
    case 1:
      if (ins.size() < 2) break;
      std::swap(ins[below(rng, ins.size())], ins[below(rng, ins.size())]);
      return "two inputs swapped";
    case 2: {
      CaseAttr a;
      a.name = below(rng, 2) ? "no_such_attribute" : "";
      a.ints = {1};
      call.attrs.push_back(a);
      return "an unknown attribute";
    }
    default: break;
  }
  Input extra;
  extra.value = ins.empty()                   ? make_array(DType::kFloat32, {2})
                : ins[0].kind == Input::kCall ? make_array(DType::kInt32, {})
                                              : ins[0].value;
  ins.push_back(extra);
  return "one input more";
}

AttrKind kind_of(AttrType t) { return AttrKind(t); }

// A function of as many arguments as are likely. Of a loop, one with which it ends.
std::string odd_body(const std::string& attribute, Rng& rng) {
  const char* const kinds[] = {"same", "first", "none", "true", "below", "add", "index", "nonsense"};
  const char* const loop_kinds[] = {"none", "nonsense", attribute == "cond" ? "below" : "add"};
  const bool of_loop = attribute == "cond" || attribute == "body";
  std::string text = (of_loop ? pick(rng, loop_kinds) : pick(rng, kinds)) + std::string(":");
  for (size_t n = below(rng, 4); n > 0; --n)
    text += std::string(name_of(pick(rng, kTypes))) + (n > 1 ? "," : "");
  return text;
}

void set_odd(CaseAttr& a, const AttrDef& def, Rng& rng) {
  size_t n = a.list ? below(rng, 5) : 1;
  const std::vector<std::string> old = a.kind == AttrKind::kFunc ? a.strings : std::vector<std::string>();
  a.ints.clear(), a.floats.clear(), a.strings.clear(), a.shapes.clear(), a.tensors.clear();
  for (size_t i = 0; i < n; ++i) {
    switch (a.kind) {
      case AttrKind::kInt:
        a.ints.push_back(def.minimum && below(rng, 3) == 0 ? *def.minimum - 1 : odd_int(rng));
        break;
      case AttrKind::kFloat: a.floats.push_back(odd_float(rng)); break;
      case AttrKind::kBool: a.ints.push_back(int64_t(below(rng, 2))); break;
      case AttrKind::kString:
        if (!def.allowed_strings.empty() && below(rng, 2))
          a.strings.push_back(pick(rng, def.allowed_strings));
        else a.strings.push_back(below(rng, 2) ? "NONSENSE" : "");
        break;
      case AttrKind::kFunc:
        // Often another kind of function with the arguments that the old one had.
        a.strings.push_back(odd_body(def.name, rng));
        if (const size_t at = old.empty() ? std::string::npos : old[i % old.size()].find(':');
            at != std::string::npos && below(rng, 3))
          a.strings.back() =
              a.strings.back().substr(0, a.strings.back().find(':')) + old[i % old.size()].substr(at);
        break;
      case AttrKind::kType: a.ints.push_back(int64_t(pick(rng, kTypes))); break;
      case AttrKind::kShape:
        if (below(rng, 4) == 0) a.shapes.emplace_back(std::nullopt);
        else {
          a.shapes.emplace_back(std::vector<int64_t>{});
          for (size_t k = below(rng, 4); k > 0; --k)
            a.shapes.back()->push_back(below(rng, 3) ? int64_t(below(rng, 4)) : odd_int(rng));
        }
        break;
      case AttrKind::kTensor: {
        Array t = make_array(pick(rng, kTypes), {2});
        a.tensors.push_back(std::move(t));
        break;
      }
    }
  }
}

std::string mutate_attr(Call& call, const AttrDef& def, Rng& rng) {
  auto found =
      std::find_if(call.attrs.begin(), call.attrs.end(), [&](auto& a) { return a.name == def.name; });
  if (found == call.attrs.end()) {
    CaseAttr a;
    a.name = def.name;
    a.kind = kind_of(def.type);
    a.list = def.list;
    call.attrs.push_back(a);
    found = call.attrs.end() - 1;
  } else if (below(rng, 6) == 0) {
    call.attrs.erase(found);
    return "missing";
  }
  found->inferred =
      false;  // what is written is passed on, even for an attribute that follows from the inputs
  switch (below(rng, 5)) {
    case 0:
      found->kind = AttrKind((int(kind_of(def.type)) + 1 + int(below(rng, 7))) % 8);
      set_odd(*found, def, rng);
      return "another kind";
    case 1:
      found->list = !def.list;
      set_odd(*found, def, rng);
      return def.list ? "no list" : "a list";
    default:
      found->kind = kind_of(def.type);
      found->list = def.list;
      set_odd(*found, def, rng);
      return "an odd value";
  }
}

}  // namespace

Mutation mutate(const Case& c, const Op& op, size_t turn, Rng& rng) {
  Mutation m;
  m.input = clone(c);
  Call& call = m.input.call;
  if (turn % 2 == 0 && !op.attrs.empty()) {
    auto& def = op.attrs[turn / 2 % op.attrs.size()];
    m.attribute = def.name;
    m.what = "attribute " + def.name + ": " + mutate_attr(call, def, rng);
  } else if (size_t place = turn / 2 % (call.inputs.size() + 1); place < call.inputs.size()) {
    m.what = "input " + std::to_string(place) + ": " + mutate_input(call, place, rng);
  } else {
    m.what = mutate_whole(call, rng);
  }
  for (int more = 0; more < 3 && below(rng, 3) == 0 && !call.inputs.empty(); ++more) {
    size_t k = below(rng, call.inputs.size());
    m.what += "; input " + std::to_string(k) + ": " + mutate_input(call, k, rng);
  }
  // Gradients are asked of whatever leaves and outputs the broken call has.
  auto found = leaves(call);
  std::erase_if(m.input.wanted,
                [&](uint32_t k) { return k >= found.size() || !is_differentiable(found[k]->value.dtype); });
  m.input.output_gradients.clear();
  return m;
}

}  // namespace rw::test
