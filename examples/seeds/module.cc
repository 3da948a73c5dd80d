// Modules: variables and submodules are found by themselves.
#include <iostream>

#include "rewind/rewind.h"

namespace {

struct Dense : rw::Module {
  rw::Variable w, b;
  Dense(int64_t inputs, int64_t outputs)
      : w(rw::ones({inputs, outputs}), {.name = "w"}), b(rw::zeros({outputs}), {.name = "b"}) {}
  rw::Tensor operator()(const rw::Tensor& x) const { return rw::nn::relu(rw::matmul(x, w) + b); }
  RW_TRACK(w, b)
};

struct Sequential : rw::Module {
  using Module::Module;
  Dense dense_1{3, 3}, dense_2{3, 2};
  rw::Variable step{0.0, {.trainable = false, .name = "step"}};
  rw::Tensor operator()(const rw::Tensor& x) const { return dense_2(dense_1(x)); }
  RW_TRACK(dense_1, dense_2, step)
};

template <class List, class Name>
void print_names(const List& list, Name name) {
  std::cout << "[";
  bool first = true;
  for (const auto& item : list) {
    std::cout << (first ? "'" : ", '") << name(item) << "'";
    first = false;
  }
  std::cout << "]\n";
}

}  // namespace

int main() {
  const Sequential model("the_model");
  const auto variable_name = [](const rw::Variable& v) { return v.name(); };
  std::cout << model(rw::constant({{2.0, 2.0, 2.0}})) << "\n";
  std::cout << model.name() << " ";
  print_names(model.variables(), variable_name);
  print_names(model.trainable_variables(), variable_name);
  print_names(model.submodules(), [](const rw::Module* m) { return m->name(); });
  rw::GradientTape tape;
  const rw::Tensor loss = rw::reduce_sum(model(rw::constant({{1.0, 2.0, 3.0}})));
  for (const rw::Gradient& g : tape.gradient(loss, model.trainable_variables())) std::cout << g << "\n";
}
