#include "rewind/function/autograph/contents.h"

#include "rewind/base/call_site.h"
#include "rewind/base/error.h"
#include "rewind/tensor/ops/creation.h"

namespace rw::autograph::detail {

BodyResult held_by(const State& state, size_t i) {
  BodyResult held;
  NestWriter writer = held.writer();
  state.entries[i].access->write(state.addresses[i], writer);
  return held;
}

Contents::Contents(const State& state) {
  for (size_t i = 0; i < state.size; ++i) variables.push_back(held_by(state, i));
}

bool holds_nothing(const BodyResult& held) {
  return held.tensors.empty() && structure_text(held.key) == "nothing";
}

Copies::Copies(const char* what, const State& state) {
  for (size_t i = 0; i < state.size; ++i) {
    const Access& access = *state.entries[i].access;
    if (access.kind == Access::kOpaque)
      fail_invalid(what,
                   "a staged condition decides which " + std::string(access.type) +
                       " is returned, and the tensors in it cannot be listed; return tensors, a tuple or "
                       "plain struct of them, or list them in the class by RW_STATE(a, b)");
    if (access.kind == Access::kUnknown)
      fail_invalid(what, name_of_variable(state, i) + " is of type " + std::string(access.type) +
                             ", which the staged body may change and which cannot be copied and compared; "
                             "RW_STATE(a, b) in a class lists the members that hold tensors");
  }
  for (size_t i = 0; i < state.size; ++i) copies_.emplace_back(state, i);
}
void Copies::restore() const {
  for (const Copy& copy : copies_) copy.restore();
}

void replace(const State& state, size_t i, const TensorList& now, const std::vector<uint8_t>& marked,
             const Tensor*& next) {
  TensorList all = now;
  for (size_t k = 0; k < all.size(); ++k)
    if (marked[k]) all[k] = *next++;
  NestReader reader{all.data()};
  state.entries[i].access->read(state.addresses[i], reader);
}

void fill_with_zeros(const char* what, const State& state, size_t i) {
  TensorList zeros = held_by(state, i).tensors;
  for (Tensor& t : zeros) {
    if (is_host_only(t.dtype()) && t.dtype() != DType::kString)
      fail_invalid(what, name_of_variable(state, i) +
                             " must be set on every path: it holds a list or resource, for which there are "
                             "no zeros");
    Shape shape = t.shape();
    if (!shape.has_rank()) shape = Shape();
    for (int k = 0; k < shape.rank(); ++k)
      if (shape[k] < 0) shape.set(k, 0);
    t = t.dtype() == DType::kString
            ? tensor_from_strings(std::vector<std::string>(size_t(shape.num_elements())), shape)
            : rw::zeros(shape, t.dtype());
  }
  NestReader reader{zeros.data()};
  state.entries[i].access->read(state.addresses[i], reader);
}

static std::string_view written_name(const State& state, size_t i) {
  std::string_view names = state.names;
  const size_t variable = state.entries[i].variable;
  for (size_t n = 0; n < variable && !names.empty(); ++n) {
    const size_t comma = names.find(", ");
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 2);
  }
  return names.substr(0, names.find(", "));
}
bool is_scratch(const State& state, size_t i) {
  return written_name(state, i).starts_with("(") && state.entries[i].access->kind == Access::kTensors;
}

std::string name_of_variable(const State& state, size_t i) {
  const Access::Kind kind = state.entries[i].access->kind;
  if (kind == Access::kResult || kind == Access::kOpaque) return "the return value";
  std::string_view name = written_name(state, i);
  if (name.starts_with("(")) name = name.substr(1, name.size() - 2);
  return name.empty() ? "variable " + std::to_string(state.entries[i].variable)
                      : "\"" + std::string(name) + "\"";
}

void fail_changed(const char* what, const State& state, size_t i) {
  fail_invalid(what,
               name_of_variable(state, i) + " is of type " + std::string(state.entries[i].access->type) +
                   ", and the staged body changes it: that happens once, while the function is traced, and "
                   "not when the graph runs; make it an rw::Tensor");
}

void rethrow_at_users_line(const Error& error) {
  throw_with_places(error, {{"at", std::make_shared<CallSite>(CallSite::here())}});
}

void fail_with_sites(const char* what, const std::string& message, const BodyResult& first,
                     const BodyResult& second) {
  const auto site = [](const BodyResult& held) -> CallSiteRef {
    for (const Tensor& t : held.tensors)
      if (is_symbol(t)) return site_of(t);
    return nullptr;
  };
  try {
    fail_invalid(what, message);
  } catch (const Error& e) {
    throw_with_places(e, {{"one made at", site(first)},
                          {"the other at", site(second)},
                          {"at", std::make_shared<CallSite>(CallSite::here())}});
  }
}

static constexpr int kDeepest = 100;
static thread_local int nested = 0;

Nesting::Nesting(const char* what) {
  if (nested >= kDeepest)
    fail_exhausted(what, "staged branches and loops lie more than " + std::to_string(kDeepest) +
                             " deep in each other: a function that calls itself in a staged branch never "
                             "stops being traced, because both branches are; write it as a loop");
  ++nested;
}
Nesting::~Nesting() { --nested; }

}  // namespace rw::autograph::detail
