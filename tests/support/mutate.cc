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
                             int64_t{1} << 40,
                             int64_t{1} << 62,
                             std::numeric_limits<int32_t>::min()};
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
  const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, -1, 1e30, -1e30, 1e-30, 0.5};
  return pick(rng, values);
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

std::string mutate_array(Array& a, Rng& rng) {
  switch (below(rng, 8)) {
    case 0: {
      DType t = pick(rng, kTypes);
      Array b = make_array(t, a.dims);
      if (t != DType::kString && a.dtype != DType::kString &&
          (is_differentiable(t) || !is_differentiable(a.dtype)))
        b = convert(a, t);
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
  if (a.dtype == DType::kString) {
    const std::string odd[] = {"",     std::string(1, '\0'), "\xff\xfe", std::string(5000, 'x'), "-1", "nan",
                               "1e999"};
    if (!a.strings.empty()) a.strings[below(rng, a.strings.size())] = pick(rng, odd);
    return "an odd string";
  }
  if (a.size() == 0 || a.bytes.empty()) return "nothing";
  auto i = int64_t(below(rng, size_t(a.num_components())));
  if (is_floating(a.dtype) || contains(kComplexTypes, a.dtype)) {
    double v = odd_float(rng);
    a.set_component(i, v);
    return "element " + std::to_string(i) + " is " + std::to_string(v);
  }
  if (a.dtype == DType::kBool) {
    a.bytes[size_t(i)] = char(1 - a.bytes[size_t(i)]);
    return "a flipped bool";
  }
  // Low bytes of the number, so that each width gets a value of its own range.
  int64_t v = odd_int(rng);
  size_t width = a.bytes.size() / size_t(a.size());
  for (size_t k = 0; k < width; ++k) a.bytes[size_t(i) * width + k] = char(uint64_t(v) >> (8 * k));
  return "element " + std::to_string(i) + " is the low part of " + std::to_string(v);
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

std::string mutate_whole(Call& call, Rng& rng) {
  auto& ins = call.inputs;
  switch (below(rng, 4)) {
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

AttrKind kind_of(AttrType t) { return t == AttrType::kFunc ? AttrKind::kString : AttrKind(t); }

void set_odd(CaseAttr& a, const AttrDef& def, Rng& rng) {
  size_t n = a.list ? below(rng, 5) : 1;
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
      found->kind = AttrKind((int(kind_of(def.type)) + 1 + int(below(rng, 5))) % 6);
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
  if (below(rng, 4) == 0 && !call.inputs.empty()) {
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
