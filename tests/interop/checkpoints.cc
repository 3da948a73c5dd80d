// Checkpoints for check_checkpoint.py, which compares them with TensorFlow's.
//   checkpoints copy CASE IN OUT         restores the objects of the case, checks that nothing is left, saves
//   again checkpoints copy_late CASE IN OUT    the same; models are built behind the restore checkpoints
//   train CASE IN OUT STEPS  restores (IN may be "-"), takes so many steps, prints the losses, saves
//   checkpoints names IN OUT             variables by the names of TensorFlow 1's checkpoints
//   checkpoints manager FOLDER SAVES KEEP HOURS INTERVAL ASYNCHRONOUS     a CheckpointManager that goes on in
//   the folder, for check_checkpoint_manager.py
//   checkpoints plain PREFIX             Checkpoint::save of what the manager saves
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>

#include "rewind/data/dataset.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/interop/waves.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT
using train::Checkpoint;
using train::NamedObject;

// What a case checkpoints, and how its models are built.
struct Case {
  virtual ~Case() = default;
  virtual Checkpoint checkpoint() = 0;
  virtual void build() {}
  virtual float step() { return 0; }
};

// ---- variables and modules

struct Variables : Case {
  std::vector<Variable> list;
  Variable step{0, {.name = "step"}}, text{"", {.name = "text"}};
  Variables() {
    const std::vector<double> nothing(12);
    for (const DType d : {float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16,
                          uint32, uint64, bool_, DType::kComplex64, DType::kComplex128})
      list.emplace_back(tensor_from_bytes(nothing.data(), d, {2, 3}),
                        VariableOptions{.name = std::string(name_of(d))});
  }
  Checkpoint checkpoint() override { return Checkpoint({{"step", step}, {"text", text}, {"list", list}}); }
};

struct Inner : Module {
  Variable w{zeros({2, 3}), {.name = "w"}};
  RW_TRACK(w)
};
struct Outer : Module {
  Variable w{zeros({2}), {.name = "ww"}};
  std::vector<Variable> l{Variable(0.0F), Variable(0.0F)};
  std::map<std::string, Variable> d{{"x/y", Variable(0.0F)}, {"z.z", Variable(0.0F)}};
  random::Generator g = random::Generator::from_seed(7);
  std::vector<Inner> sub = std::vector<Inner>(2);
  std::vector<Variable> none;
  std::vector<std::vector<Variable>> nn{{Variable(0.0F)}};
  Variable z = w;
  std::optional<Inner> perhaps = Inner();
  RW_TRACK(w, l, d, g, sub, none, nn, z, perhaps)
};
struct Modules : Case {
  Outer outer;
  Checkpoint checkpoint() override { return Checkpoint(outer); }
};
struct Attached : Case {
  Outer outer;
  Variable extra{0.0F};
  Checkpoint inner{{{"v", Variable(0.0F)}}};
  Checkpoint checkpoint() override { return Checkpoint(outer, {{"extra", extra}, {"nested", inner}}); }
};

// ---- models

struct Sequence : Case {
  Sequential model{Dense(3, {.activation = "relu"}), BatchNormalization(), Dropout(0.5), Dense(1)};
  Variable step{0, {.name = "step", .dtype = int64}};
  Checkpoint checkpoint() override { return Checkpoint({{"model", model}, {"step", step}}); }
  void build() override { (void)model(zeros({2, 4})); }
};

struct Compiled : Sequence {
  Compiled() { model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}}); }
  void build() override { model.fit(zeros({4, 4}), zeros({4, 1}), {.verbose = 0}); }
};
struct BuiltThenCompiled : Sequence {
  BuiltThenCompiled() {
    (void)model(zeros({2, 4}));
    model.compile({.optimizer = "adam", .loss = "mse"});
  }
  void build() override { model.fit(zeros({4, 4}), zeros({4, 1}), {.verbose = 0}); }
};

Model functional() {
  const auto image = Input({8, 8, 2}, {.name = "image"});
  const auto words = Input({6}, {.dtype = int32, .name = "words"});
  auto y = Conv2D(3, 3, {.padding = "same"})(image);
  y = BatchNormalization()(y);
  y = Flatten()(y);
  auto t = Embedding(9, 4)(words);
  t = Bidirectional(LSTM(3, {.return_sequences = true}))(t);
  t = MultiHeadAttention(2, 4)({t, t});
  t = LayerNormalization()(t);
  t = TimeDistributed(Dense(2))(t);
  t = GRU(3)(t);
  const Dense shared(5, {.name = "shared"});
  const auto a = shared(y), b = shared(Dense(192)(t));
  auto joined = Concatenate()({a, b, t});
  joined = Sequential({Dense(3), PReLU()}, {.name = "inner"})(joined);
  return Model({image, words}, {joined, a * 2.0F});
}
struct Functional : Case {
  Model model = functional();
  Optimizer optimizer = SGD({.momentum = 0.9});
  void build() override { optimizer.build(model.trainable_variables()); }
  Checkpoint checkpoint() override { return Checkpoint({{"model", model}, {"optimizer", optimizer}}); }
};

struct Net : Model {
  Dense hidden{3}, out{1};
  Sequential nest{Dense(2)};
  Variable factor;
  Tensor call(const Tensor& x, const CallArgs&) override { return out(nest(hidden(x))) * factor; }
  void build(const Shape&) override {
    factor = add_weight({.name = "factor", .shape = {1}, .initializer = "ones"});
  }
  RW_TRACK(hidden, out, nest, factor)
};
struct Subclass : Case {
  Net model;
  Optimizer optimizer = Adam({.learning_rate = 0.05, .amsgrad = true, .use_ema = true});
  Checkpoint checkpoint() override { return Checkpoint({{"model", model}, {"optimizer", optimizer}}); }
  void build() override {
    (void)model(zeros({2, 4}));
    optimizer.build(model.trainable_variables());
  }
};

// Layers by themselves.
struct Layers : Case {
  std::vector<std::pair<std::string, LayerRef>> layers;
  std::vector<std::function<void()>> builds;
  template <class L>
  void add(L layer, const Shape& shape) {
    const std::string name = "l" + std::to_string(10 + layers.size());
    layers.emplace_back(name, layer);
    builds.emplace_back([layer, shape] {
      if (layer.class_name() == "MultiHeadAttention") (void)layer.all({zeros(shape), zeros(shape)});
      else (void)layer.all(zeros(shape));
    });
  }
  Layers() {
    add(Dense(2), {1, 3});
    add(Dense(2, {.use_bias = false}), {1, 3});
    add(Embedding(3, 2), {1, 3});
    add(Conv1D(2, 1), {1, 3, 3});
    add(Conv2D(2, 1), {1, 3, 3, 3});
    add(Conv2DTranspose(2, 1), {1, 3, 3, 3});
    add(SeparableConv2D(2, 1), {1, 3, 3, 3});
    add(DepthwiseConv2D(1), {1, 3, 3, 3});
    add(BatchNormalization(), {2, 3});
    add(BatchNormalization({.scale = false}), {2, 3});
    add(LayerNormalization(), {1, 3});
    add(GroupNormalization({.groups = 1}), {1, 3, 3});
    add(PReLU(), {1, 3});
    add(LSTM(2), {1, 3, 3});
    add(LSTM(2, {.dropout = 0.5, .stateful = true}), {1, 3, 3});
    add(GRU(2, {.reset_after = false, .use_bias = false}), {1, 3, 3});
    add(SimpleRNN(2), {1, 3, 3});
    add(Bidirectional(GRU(2)), {1, 3, 3});
    add(TimeDistributed(Dense(2)), {1, 3, 3});
    add(MultiHeadAttention(2, 2), {1, 3, 3});
    add(MultiHeadAttention(2, 2, {.dropout = 0.5, .use_bias = false}), {1, 3, 3});
    add(Dropout(0.5), {1, 3});
    add(RandomFlip(), {1, 3, 3, 3});
    add(Normalization(), {1, 3});
    add(Rescaling(2.0), {1, 3});
    add(Flatten(), {1, 3});
    add(MaxPooling2D(), {1, 4, 4, 3});
  }
  void build() override {
    for (const auto& b : builds) b();
  }
  Checkpoint checkpoint() override {
    const Checkpoint c;
    for (const auto& [name, layer] : layers) c.track(name, *layer);
    return c;
  }
};

// Every optimizer beside one variable.
struct Optimizers : Case {
  Variable v{zeros({2, 3}), {.name = "kernel"}};
  std::vector<Optimizer> all{SGD({.momentum = 0.9}),
                             SGD(),
                             Adam({.amsgrad = true, .use_ema = true, .gradient_accumulation_steps = 2}),
                             AdamW(),
                             RMSprop({.momentum = 0.1, .centered = true}),
                             RMSprop(),
                             Adagrad(),
                             Adadelta(),
                             Adamax(),
                             Nadam(),
                             Ftrl(),
                             Lion(),
                             LossScaleOptimizer(SGD({.momentum = 0.5})),
                             SGD({.learning_rate = schedules::ExponentialDecay(
                                      {.initial_learning_rate = 0.1, .decay_steps = 1, .decay_rate = 0.5})})};
  void build() override {
    for (const Optimizer& o : all) o.build({v});
  }
  Checkpoint checkpoint() override { return Checkpoint({{"v", v}, {"all", all}}); }
};

// ---- training that goes to and fro

struct Training : Case {
  Sequential model{Dense(16, {.activation = "tanh"}), BatchNormalization(), Dense(1)};
  Optimizer optimizer = Adam({.learning_rate = 0.02});
  Variable step_count{0, {.trainable = false, .name = "step", .dtype = int64}};
  Tensor x = wave({32, 5}, 0, 2.0), y = wave({32, 1}, 3, 1.0);
  Checkpoint checkpoint() override {
    return Checkpoint({{"model", model}, {"optimizer", optimizer}, {"step", step_count}});
  }
  void build() override {
    (void)model(x);
    int number = 1;
    for (const Variable& v : model.trainable_variables()) v.assign(wave(v.shape(), number++, 0.3));
  }
  float step() override {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(model(x, {.training = true}) - y));
    const auto variables = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    step_count.assign_add(int64_t(1));
    return loss.item<float>();
  }
};

struct Tables : Case {
  lookup::MutableHashTable counts{string, int64, 0};
  lookup::MutableHashTable rows{int64, float32, {0.0f, 0.0f}};
  Variable step{0, {.name = "step"}};
  Checkpoint checkpoint() override {
    return Checkpoint({{"counts", counts}, {"rows", rows}, {"step", step}});
  }
};

// The same with other optimizers.
struct MomentumTraining : Training {
  MomentumTraining() { optimizer = SGD({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}); }
};
struct RmspropTraining : Training {
  RmspropTraining() { optimizer = RMSprop({.learning_rate = 0.005, .momentum = 0.5, .centered = true}); }
};

// And with every one that Keras has; null: no such name.
struct OtherTraining : Training {
  explicit OtherTraining(const Optimizer& o) { optimizer = o; }
};
std::unique_ptr<Case> other_training(const std::string& rule) {
  const std::map<std::string, std::function<Optimizer()>> rules{
      {"adamw", [] { return AdamW({.learning_rate = 0.02, .weight_decay = 0.004}); }},
      {"adagrad", [] { return Adagrad({.learning_rate = 0.02}); }},
      {"adadelta", [] { return Adadelta({.learning_rate = 20.0}); }},
      {"adamax", [] { return Adamax({.learning_rate = 0.02}); }},
      {"nadam", [] { return Nadam({.learning_rate = 0.02}); }},
      {"ftrl", [] { return Ftrl({.learning_rate = 0.3}); }},
      {"lion", [] { return Lion({.learning_rate = 0.005}); }},
      {"averaged",
       [] {
         return SGD({.learning_rate = 0.05,
                     .momentum = 0.9,
                     .use_ema = true,
                     .ema_momentum = 0.5,
                     .ema_overwrite_frequency = 7});
       }},
      {"accumulated", [] { return Adam({.learning_rate = 0.04, .gradient_accumulation_steps = 2}); }},
      {"clipped", [] { return RMSprop({.learning_rate = 0.01, .clipnorm = 0.1}); }}};
  const auto it = rules.find(rule);
  return it == rules.end() ? nullptr : std::make_unique<OtherTraining>(it->second());
}

// A module with a loop of its own: momentum, Adam's moments and RMS written out.
struct OwnTraining : Case {
  struct Net : Module {
    Variable w1{wave({5, 8}, 1, 0.3), {.name = "w1"}}, b1{zeros({8}), {.name = "b1"}};
    Variable w2{wave({8, 1}, 2, 0.3), {.name = "w2"}}, b2{zeros({1}), {.name = "b2"}};
    std::vector<Variable> all() const { return {w1, b1, w2, b2}; }
    RW_TRACK(w1, b1, w2, b2)
  };
  struct Moments : Module {
    std::vector<Variable> m, v;
    Variable t{0, {.trainable = false, .name = "t", .dtype = int64}};
    explicit Moments(const std::vector<Variable>& beside) {
      for (const Variable& x : beside) {
        m.emplace_back(zeros(x.shape()), VariableOptions{.trainable = false});
        v.emplace_back(zeros(x.shape()), VariableOptions{.trainable = false});
      }
    }
    RW_TRACK(m, v, t)
  };
  std::string rule;
  Net net;
  Moments moments{net.all()};
  Tensor x = wave({32, 5}, 0, 2.0), y = wave({32, 1}, 3, 1.0);
  explicit OwnTraining(std::string r) : rule(std::move(r)) {}
  Checkpoint checkpoint() override { return Checkpoint({{"net", net}, {"moments", moments}}); }
  float step() override {
    const auto variables = net.all();
    GradientTape tape;
    const Tensor h = tanh(matmul(x, net.w1) + net.b1);
    const Tensor loss = reduce_mean(square(matmul(h, net.w2) + net.b2 - y));
    const auto gradients = tape.gradient(loss, variables);
    moments.t.assign_add(int64_t(1));
    for (size_t i = 0; i < variables.size(); ++i) {
      const Tensor g = gradients[i];
      const Variable &m = moments.m[i], &v = moments.v[i], &w = variables[i];
      if (rule == "momentum") {
        m.assign(m * 0.9F + g);
        w.assign_sub(m * 0.05F);
      } else {
        v.assign(v * 0.99F + square(g) * 0.01F);
        if (rule == "adam") {
          m.assign(m * 0.9F + g * 0.1F);
          const Tensor t = cast(moments.t, float32);
          const Tensor rate = 0.02F * sqrt(1.0F - pow(0.99F, t)) / (1.0F - pow(0.9F, t));
          w.assign_sub(rate * m / (sqrt(v) + 1e-7F));
        } else {
          w.assign_sub(0.01F * g / (sqrt(v) + 1e-7F));
        }
      }
    }
    return loss.item<float>();
  }
};

std::unique_ptr<Case> make(const std::string& name) {
  if (name == "tables") return std::make_unique<Tables>();
  if (name == "variables") return std::make_unique<Variables>();
  if (name == "modules") return std::make_unique<Modules>();
  if (name == "attached") return std::make_unique<Attached>();
  if (name == "sequence") return std::make_unique<Sequence>();
  if (name == "compiled") return std::make_unique<Compiled>();
  if (name == "built_then_compiled") return std::make_unique<BuiltThenCompiled>();
  if (name == "functional") return std::make_unique<Functional>();
  if (name == "subclass") return std::make_unique<Subclass>();
  if (name == "layers") return std::make_unique<Layers>();
  if (name == "optimizers") return std::make_unique<Optimizers>();
  if (name == "training_adam") return std::make_unique<Training>();
  if (name == "training_momentum") return std::make_unique<MomentumTraining>();
  if (name == "training_rmsprop") return std::make_unique<RmspropTraining>();
  if (name.starts_with("training_"))
    if (auto other = other_training(name.substr(9))) return other;
  if (name.starts_with("own_")) return std::make_unique<OwnTraining>(name.substr(4));
  throw NotFoundError("no case is named " + name);
}

void copy(const std::string& name, const std::string& in, const std::string& out, bool late) {
  const auto objects = make(name);
  if (!late) objects->build();
  const Checkpoint ckpt = objects->checkpoint();
  const auto status = ckpt.read(in);
  if (late) objects->build();
  status.assert_consumed();
  ckpt.write(out);
}

void run_training(const std::string& name, const std::string& in, const std::string& out, int steps) {
  const auto objects = make(name);
  const Checkpoint ckpt = objects->checkpoint();
  if (in == "-") {
    objects->build();
  } else {
    ckpt.restore(in).expect_partial();
  }
  for (int i = 0; i < steps; ++i) printf("%.9g\n", double(objects->step()));
  ckpt.save(out);
}

void names(const std::string& in, const std::string& out) {
  const Variable w(zeros({2, 3}), {.name = "scope/w"}), b(zeros({6}), {.name = "b"});
  const Checkpoint ckpt({{"w", w}, {"other", b}});
  ckpt.restore(in).assert_consumed();
  ckpt.write(out);
}

struct Counted {
  Variable v{0.0F}, step{0, {.trainable = false, .name = "step", .dtype = int64}};
  Checkpoint checkpoint{{{"v", v}, {"step", step}}};
};

void manager(char** argv) {
  const Counted c;
  const int keep = std::stoi(argv[4]), interval = std::stoi(argv[6]);
  const double hours = std::stod(argv[5]);
  train::CheckpointManagerOptions options{.step_counter = c.step};
  if (keep) options.max_to_keep = keep;
  if (hours > 0) options.keep_checkpoint_every_n_hours = hours;
  if (interval) options.checkpoint_interval = interval;
  train::CheckpointManager manager(c.checkpoint, argv[2], options);
  manager.restore_or_initialize();
  printf("%g\n", double(c.v.item<float>()));
  for (int i = 0; i < std::stoi(argv[3]); ++i) {
    c.v.assign_add(1.0F);
    c.step.assign_add(int64_t(1));
    manager.save({.checkpoint = {.asynchronous = argv[7][0] == '1'}});
  }
  printf("%g\n", double(c.v.item<float>()));
}

void plain(const std::string& prefix) {
  const Counted c;
  c.v.assign(5.0F);
  c.step.assign(int64_t(7));
  c.checkpoint.save(prefix);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc == 5 && what == "copy") copy(argv[2], argv[3], argv[4], false);
    else if (argc == 5 && what == "copy_late") copy(argv[2], argv[3], argv[4], true);
    else if (argc == 6 && what == "train") run_training(argv[2], argv[3], argv[4], std::stoi(argv[5]));
    else if (argc == 4 && what == "names") names(argv[2], argv[3]);
    else if (argc == 8 && what == "manager") manager(argv);
    else if (argc == 3 && what == "plain") plain(argv[2]);
    else return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
