// Writes SavedModels for check_saved_model_writing.py: one folder per model below the given one, and beside
// each a text with what its functions give here.
//
//   saved_model_programs FOLDER
#include <rewind/keras/keras.h>
#include <rewind/rewind.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

namespace {

using rw::Tensor;
using rw::TensorSpec;
using rw::Variable;
namespace keras = rw::keras;
using Texts = std::vector<std::string>;

// "name dtype 2,3 : 1 2 3 4 5 6"
class Expected {
 public:
  explicit Expected(const std::string& path) : out_(path) {}
  void add(const std::string& name, const Tensor& value) {
    out_ << name << " " << name_of(value.dtype()) << " ";
    for (int k = 0; k < value.rank(); ++k) out_ << (k ? "," : "") << value.shape()[k];
    out_ << " :";
    char text[40];
    const Tensor flat = rw::reshape(rw::cast(value, rw::float64), {-1});
    for (const double v : flat.to_vector<double>()) {
      std::snprintf(text, sizeof(text), " %.17g", v);
      out_ << text;
    }
    out_ << "\n";
  }

 private:
  std::ofstream out_;
};

struct Case {
  std::string name;
  std::function<void(const std::string& folder, Expected& expected)> write;
};

Tensor ramp(const rw::Shape& shape, double scale = 0.1) {
  return rw::reshape(rw::range(0.0f, float(shape.num_elements())) * float(scale), shape);
}

// ---- variables, a constant, a map of results, a flag

struct Linear : rw::Module {
  Variable w{ramp({2, 3}), {.name = "w"}};
  Variable b{rw::zeros({3}), {.name = "b"}};
  Variable calls{0, {.trainable = false, .name = "calls"}};
  Tensor table = ramp({64, 3});
  std::map<std::string, Tensor> forward(const Tensor& x, bool training) {
    calls.assign_add(1);
    const Tensor y = rw::matmul(x, w) + b;
    return {{"y", training ? y * 2.0f : y}, {"z", x + rw::gather(table, 63)[0]}};
  }
  rw::Function<std::map<std::string, Tensor>(const Tensor&, bool)> call{
      this, &Linear::forward, {.argument_names = {"x", "training"}}};
  RW_TRACK(w, b, calls, call)
};

void linear(const std::string& folder, Expected& expected) {
  Linear m;
  const auto f = m.call.get_concrete_function(TensorSpec{{-1, 2}, rw::float32, "x"}, false);
  (void)m.call.get_concrete_function(TensorSpec{{-1, 2}}, true);
  rw::saved_model::save(m, folder, {.signatures = {{"serving_default", f}}});
  const Tensor x = ramp({4, 2});
  rw::GradientTape tape;
  const auto y = m.call(x, false);
  const Tensor loss = rw::reduce_sum(rw::square(y.at("y"))) + rw::reduce_sum(y.at("z"));
  expected.add("x", x);
  expected.add("y", y.at("y"));
  expected.add("z", y.at("z"));
  expected.add("grad_w", tape.gradient(loss, m.w));
  expected.add("training_y", m.call(x, true).at("y"));
}

// ---- modules in lists and maps, one of them shared; one function, whose signature is deduced

struct Block : rw::Module {
  Variable w;
  explicit Block(float value) : w(rw::fill({2, 2}, value), {.name = "w"}) {}
  Tensor operator()(const Tensor& x) const { return rw::tanh(rw::matmul(x, w)); }
  RW_TRACK(w)
};
struct Tree : rw::Module {
  std::vector<std::shared_ptr<Block>> blocks{std::make_shared<Block>(0.1f), std::make_shared<Block>(0.2f)};
  std::map<std::string, Block> named{{"a/b", Block(0.3f)}};
  Block* again = blocks[0].get();
  Tensor forward(const Tensor& x) { return (*again)(named.at("a/b")((*blocks[1])((*blocks[0])(x)))); }
  rw::Function<Tensor(const Tensor&)> call{
      this, &Tree::forward, {.input_signature = {{{{-1, 2}, rw::float32, "inputs"}}}}};
  RW_TRACK(blocks, named, again, call)
};

void tree(const std::string& folder, Expected& expected) {
  Tree m;
  rw::saved_model::save(m, folder);
  const Tensor x = ramp({3, 2}, 0.3);
  rw::GradientTape tape;
  const Tensor y = m.call(x);
  expected.add("x", x);
  expected.add("y", y);
  expected.add("grad", tape.gradient(y, m.blocks[0]->w));
}

// ---- branches, loops, calls of other functions

struct Flow : rw::Module {
  Variable w{1.5f, {.name = "w"}};
  Tensor squared(const Tensor& x) { return x * x * w; }
  Tensor flowing(const Tensor& x, const Tensor& n) {
    const Tensor y = rw::cond(rw::reduce_sum(x) > 1.0f, [&] { return square(x); }, [&] { return x - w; });
    return std::get<1>(rw::while_loop(
        [&](const Tensor& i, const Tensor&) { return i < n; },
        [&](const Tensor& i, const Tensor& v) { return std::tuple(i + 1, v * w + rw::sin(v)); },
        std::tuple(rw::constant(0), y)));
  }
  rw::Function<Tensor(const Tensor&)> square{this, &Flow::squared};
  rw::Function<Tensor(const Tensor&, const Tensor&)> call{this, &Flow::flowing};
  RW_TRACK(w, square, call)
};

void flow(const std::string& folder, Expected& expected) {
  Flow m;
  const auto f = m.call.get_concrete_function(TensorSpec{{-1}}, TensorSpec{{}, rw::int32});
  (void)m.square.get_concrete_function(TensorSpec{{-1}});
  rw::saved_model::save(m, folder, {.signatures = {{"serving_default", f}}});
  for (const double scale : {0.1, 0.5}) {
    const std::string at = scale < 0.3 ? "small_" : "large_";
    const Tensor x = ramp({4}, scale);
    rw::GradientTape tape;
    tape.watch(x);
    const Tensor y = m.call(x, rw::constant(3));
    const auto grads = tape.gradient(y, {x, m.w});
    expected.add(at + "x", x);
    expected.add(at + "y", y);
    expected.add(at + "grad_x", grads[0].tensor());
    expected.add(at + "grad_w", grads[1].tensor());
  }
}

// ---- gradients of one's own: of values in between, of variables, inside of branches

struct Own : rw::Module {
  Variable w{2.0f, {.name = "w"}};
  Tensor clipped(const Tensor& x) {
    const auto f = rw::custom_gradient([this](const Tensor& v) {
      const Tensor e = rw::exp(v);
      return rw::with_gradients({rw::math::log(1.0f + e) * w},
                                [=](const std::vector<Tensor>& dy) {
                                  return std::vector<rw::Gradient>{dy[0] * 10.0f * e,
                                                                   rw::reduce_sum(dy[0]) * 100.0f};
                                },
                                {w});
    });
    const auto scaled = rw::custom_gradient([](const Tensor& v) {
      return rw::with_gradient(v * 2.0f, [](const Tensor& dy) { return dy * 7.0f; });
    });
    const Tensor inside =
        rw::cond(rw::reduce_sum(x) > 0.0f, [&] { return Tensor(scaled(x)); }, [&] { return x; });
    return Tensor(f(inside * 0.5f));
  }
  rw::Function<Tensor(const Tensor&)> call{this, &Own::clipped};
  RW_TRACK(w, call)
};

void own_gradients(const std::string& folder, Expected& expected) {
  Own m;
  (void)m.call.get_concrete_function(TensorSpec{{-1}});
  rw::saved_model::save(m, folder);
  const Tensor x = ramp({4});
  rw::GradientTape tape;
  tape.watch(x);
  const Tensor y = m.call(x);
  const auto grads = tape.gradient(y, {x, m.w});
  expected.add("x", x);
  expected.add("y", y);
  expected.add("grad_x", grads[0].tensor());
  expected.add("grad_w", grads[1].tensor());
}

// ---- arguments and results in structures

struct Structured : rw::Module {
  std::tuple<Tensor, std::vector<Tensor>> mixed(const std::vector<Tensor>& list,
                                                const std::map<std::string, std::pair<Tensor, Tensor>>& named,
                                                int64_t times, const std::string& how) {
    const auto& [a, b] = named.at("k");
    Tensor sum = list[0] - list[1] * 2.0f + a * 3.0f - b * 4.0f;
    for (int64_t i = 1; i < times; ++i) sum = sum + list[0];
    return {how == "neg" ? -sum : sum, {a, b}};
  }
  rw::Function<std::tuple<Tensor, std::vector<Tensor>>(
      const std::vector<Tensor>&, const std::map<std::string, std::pair<Tensor, Tensor>>&, int64_t,
      const std::string&)>
      mix{this, &Structured::mixed, {.argument_names = {"xs", "d", "times", "how"}}};
  rw::Function<void(const Tensor&)> nothing{this, [](Structured&, const Tensor& x) { rw::print(x); }};
  RW_TRACK(mix, nothing)
};

void structured(const std::string& folder, Expected& expected) {
  Structured m;
  std::vector<Tensor> list{ramp({3}), ramp({3}, 1)};
  std::map<std::string, std::pair<Tensor, Tensor>> named{{"k", {ramp({3}, 2), ramp({3}, 3)}}};
  const auto [y, rest] = m.mix(list, named, 3, "neg");
  m.mix(list, named, 2, "pos");
  (void)m.nothing.get_concrete_function(TensorSpec{});
  rw::saved_model::save(m, folder);
  expected.add("a", list[0]);
  expected.add("b", list[1]);
  expected.add("c", named.at("k").first);
  expected.add("d", named.at("k").second);
  expected.add("y", y);
  expected.add("r0", rest[0]);
  expected.add("r1", rest[1]);
}

// ---- a training step with an optimizer inside

struct Trainer : rw::Module {
  Variable w{rw::zeros({2, 1}), {.name = "w"}};
  keras::Adam optimizer{{.learning_rate = 0.1}};
  Tensor step(const Tensor& x, const Tensor& y) {
    rw::GradientTape tape;
    const Tensor loss = rw::reduce_mean(rw::square(rw::matmul(x, w) - y));
    optimizer.apply_gradients(tape.gradient(loss, std::vector<Variable>{w}), {w});
    return loss;
  }
  Tensor predict(const Tensor& x) { return rw::matmul(x, w); }
  rw::Function<Tensor(const Tensor&, const Tensor&)> train_step{this, &Trainer::step};
  rw::Function<Tensor(const Tensor&)> call{this, &Trainer::predict};
  RW_TRACK(w, train_step, call)
};

void trainer(const std::string& folder, Expected& expected) {
  Trainer m;
  const Tensor x = ramp({8, 2}), y = rw::matmul(x, rw::constant({{1.0f}, {-2.0f}}));
  for (int i = 0; i < 5; ++i) m.train_step(x, y);
  (void)m.call.get_concrete_function(TensorSpec{{-1, 2}});
  rw::saved_model::save(m, folder);
  expected.add("x", x);
  expected.add("target", y);
  for (int i = 0; i < 20; ++i) expected.add("loss_" + std::to_string(i), m.train_step(x, y));
  expected.add("w", m.w.value());
}

// ---- an op of one's own with a decomposition, and stretches that are computed again

struct Decomposed : rw::Module {
  Variable w{3.0f, {.name = "w"}};
  Tensor forward(const Tensor& x) {
    const Tensor y = rw::raw_op("InteropTriple", {x * w})[0];
    return rw::recompute_grad([this](const Tensor& v) { return rw::sin(v * w); })(y);
  }
  rw::Function<Tensor(const Tensor&)> call{this, &Decomposed::forward};
  RW_TRACK(w, call)
};

void decomposed(const std::string& folder, Expected& expected) {
  rw::op_table().add("InteropTriple(x: T) -> (y: T); T: {float}").shape(rw::same_shape_as_input);
  rw::register_gradient("InteropTriple", rw::kNeedsNothing,
                        [](rw::GradContext& g) { g.set(0, g.grad() * 3.0f); });
  rw::saved_model::register_decomposition(
      "InteropTriple",
      [](const std::vector<Tensor>& in, const rw::Attrs&) { return std::vector{in[0] * 3.0f}; });
  Decomposed m;
  (void)m.call.get_concrete_function(TensorSpec{{-1}, rw::float32, "x"});
  rw::saved_model::save(m, folder);
  const Tensor x = ramp({3});
  expected.add("x", x);
  expected.add("y", rw::sin(x * 3.0f * 3.0f * 3.0f));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<Case> cases{{"linear", linear},
                                {"tree", tree},
                                {"flow", flow},
                                {"own_gradients", own_gradients},
                                {"structured", structured},
                                {"trainer", trainer},
                                {"decomposed", decomposed}};
  for (const Case& c : cases) {
    const std::string folder = std::string(argv[1]) + "/" + c.name;
    Expected expected(folder + ".txt");
    try {
      c.write(folder, expected);
    } catch (const std::exception& e) {
      std::printf("%s: %s\n", c.name.c_str(), e.what());
      return 1;
    }
  }
  return 0;
}
