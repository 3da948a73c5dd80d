#include "rewind/saved/save_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rewind/format/read_file.h"
#include "rewind/format/saved_model.h"
#include "rewind/keras/keras.h"
#include "rewind/rewind.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace rw {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

struct Affine : Module {
  Variable w{constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), {.name = "w"}};
  Variable count{0, {.trainable = false, .name = "count"}};
  Tensor table = reshape(range(0.0f, 128.0f), {64, 2});
  std::map<std::string, Tensor> forward(const Tensor& x, bool twice) {
    count.assign_add(1);
    const Tensor y = matmul(x, w) + gather(table, 63);
    return {{"y", twice ? y * 2.0f : y}, {"x", x}};
  }
  Function<std::map<std::string, Tensor>(const Tensor&, bool)> call{
      this, &Affine::forward, {.argument_names = {"x", "twice"}}};
  RW_TRACK(w, count, call)
};

format::SavedModel file_of(const std::string& folder) {
  const format::ReadFile file(folder + "/saved_model.pb", "test");
  return format::decode<format::SavedModel>(file.read(0, size_t(file.size())));
}
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SaveModel, WhatItWritesLoads) {
  const TemporaryFolder folder;
  Affine m;
  const auto f = m.call.get_concrete_function(TensorSpec{{-1, 2}, float32, "x"}, false);
  (void)m.call.get_concrete_function(TensorSpec{{-1, 2}}, true);
  saved_model::save(m, folder / "m", {.signatures = {{"serving_default", f}}});
  EXPECT_EQ(names_in(folder / "m"),
            (std::vector<std::string>{"assets", "fingerprint.pb", "saved_model.pb", "variables"}));

  const auto loaded = saved_model::load(folder / "m");
  const Tensor x = constant({{1.0f, 1.0f}});
  const auto out = loaded.signatures().at("serving_default")({{"x", x}});
  EXPECT_EQ(out.at("y").to_vector<float>(), (std::vector<float>{130, 133}));
  EXPECT_EQ(out.at("x").to_vector<float>(), (std::vector<float>{1, 1}));
  GradientTape tape;
  const Tensor y = loaded.function("__call__").call({x}, {{"twice", true}})[1];
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{260, 266}));
  EXPECT_EQ(Tensor(tape.gradient(y, loaded.variable("w"))).to_vector<float>(),
            (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(loaded.variable("count").item<int32_t>(), 2);
  EXPECT_FALSE(loaded.variable("count").trainable());
}

TEST(SaveModel, SignaturesAreNamedAsTensorFlowNamesThem) {
  const TemporaryFolder folder;
  struct Two : Module {
    Function<std::tuple<Tensor, Tensor>(const Tensor&, const std::vector<Tensor>&)> call{
        this, [](Two&, const Tensor& a, const std::vector<Tensor>& b) { return std::tuple(b[1], a + b[0]); }};
    RW_TRACK(call)
  } m;
  const auto f =
      m.call.get_concrete_function(TensorSpec{}, std::vector<TensorSpec>{{{}, float32, "named"}, {}});
  saved_model::save(m, folder / "m");  // one function, one trace
  const auto loaded = saved_model::load(folder / "m");
  std::vector<std::string> inputs, outputs;
  for (const auto& [name, spec] : loaded.signatures().at("serving_default").inputs()) inputs.push_back(name);
  for (const auto& [name, spec] : loaded.signatures().at("serving_default").outputs())
    outputs.push_back(name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"args_0", "args_1_1", "named"}));
  EXPECT_EQ(outputs, (std::vector<std::string>{"output_0", "output_1"}));
  const auto out = loaded.signatures().at("serving_default")(
      {{"args_0", constant(1.0f)}, {"named", constant(10.0f)}, {"args_1_1", constant(100.0f)}});
  EXPECT_EQ(out.at("output_0").item<float>(), 100);
  EXPECT_EQ(out.at("output_1").item<float>(), 11);
  (void)m.call.get_concrete_function(TensorSpec{{2}}, std::vector<TensorSpec>{{{2}}, {{2}}});
  saved_model::save(m, folder / "several");
  EXPECT_TRUE(saved_model::load(folder / "several").signatures().empty());
  EXPECT_EQ(f->inputs().size(), 3u);
}

TEST(SaveModel, GradientsLoopsAndBranchesComeBack) {
  const TemporaryFolder folder;
  struct Flow : Module {
    Variable w{2.0f, {.name = "w"}};
    Tensor forward(const Tensor& x) {
      const auto own = custom_gradient([this](const Tensor& v) {
        const Tensor e = exp(v);
        return with_gradients({e * w},
                              [=](const std::vector<Tensor>& dy) {
                                return std::vector<Gradient>{dy[0] * e * 5.0f, dy[0] * 3.0f};
                              },
                              {w});
      });
      const Tensor y = cond(x > 0.0f, [&] { return Tensor(own(x)); }, [&] { return x; });
      return std::get<1>(
          while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                     [&](const Tensor& i, const Tensor& v) { return std::tuple(i + 1, v * w); },
                     std::tuple(constant(0), y)));
    }
    Function<Tensor(const Tensor&)> call{this, &Flow::forward};
    RW_TRACK(w, call)
  } m;
  const Tensor x = constant(1.0f);
  const auto run = [&](const auto& f, const Variable& w) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    const auto grads = tape.gradient(y, {x, w});
    return std::vector<float>{y.item<float>(), grads[0].tensor().item<float>(),
                              grads[1].tensor().item<float>()};
  };
  const std::vector<float> here = run(m.call, m.w);
  saved_model::save(m, folder / "m");
  const auto loaded = saved_model::load(folder / "m");
  const std::vector<float> there = run(loaded, loaded.variable("w"));
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(here[i], there[i]) << i;
}

TEST(SaveModel, VariablesThatNoMemberHoldsAreSaved) {
  const TemporaryFolder folder;
  const Variable outside(7.0f, {.name = "far/away"});
  struct Empty : Module {
    Function<Tensor(const Tensor&)> call;
    RW_TRACK(call)
  } m;
  m.call = rw::function([&](const Tensor& x) { return x * outside; });
  m.call(constant(1.0f));
  saved_model::save(m, folder / "m");
  const auto loaded = saved_model::load(folder / "m");
  EXPECT_EQ(Tensor(loaded(constant(2.0f))).item<float>(), 14);
  EXPECT_EQ(loaded.variable("captured_far_away").item<float>(), 7);
}

TEST(SaveModel, WhatCannotBeSavedIsNamedAndNothingIsWritten) {
  const TemporaryFolder folder;
  op_table().add("SaveModelOwn(x: T) -> (y: T); T: {float}").shape(same_shape_as_input);
  struct Bad : Module {
    bool host = false;
    Tensor forward(const Tensor& x) {
      if (host) return host_function([](const std::vector<Tensor>& in) { return in; }, {x}, {float32})[0];
      return raw_op("SaveModelOwn", {x})[0];
    }
    Function<Tensor(const Tensor&)> call{this, &Bad::forward, {.name = "predict"}};
    RW_TRACK(call)
  };
  Bad own, host;
  host.host = true;
  (void)own.call.get_concrete_function(TensorSpec{{-1}});
  (void)host.call.get_concrete_function(TensorSpec{{-1}});
  fs::create_directory(folder / "there");
  std::ofstream(folder / "there/saved_model.pb") << "old";
  for (const char* name : {"there", "new"}) {
    expect_error<UnimplementedError>([&] { saved_model::save(own, folder / name); },
                                     "SaveModelOwn in function predict");
    expect_error<UnimplementedError>([&] { saved_model::save(host, folder / name); }, "rw::host_function");
  }
  EXPECT_EQ(names_in(folder / ""), std::vector<std::string>{"there"});
  EXPECT_EQ(names_in(folder / "there"), std::vector<std::string>{"saved_model.pb"});

  saved_model::register_decomposition(
      "SaveModelOwn", [](const std::vector<Tensor>& in, const Attrs&) { return std::vector{in[0] * 4.0f}; });
  saved_model::save(own, folder / "there");
  EXPECT_EQ(Tensor(saved_model::load(folder / "there")(constant({2.0f})))[0].item<float>(), 8);
}

TEST(SaveModel, TakesThePlaceOfAModelAndLeavesOtherFiles) {
  const TemporaryFolder folder;
  Affine m;
  saved_model::save(m, folder / "deep/down/m");
  std::ofstream(folder / "deep/down/m/notes.txt") << "mine";
  m.w.assign(zeros({2, 2}));
  saved_model::save(m, folder / "deep/down/m/");
  EXPECT_EQ(names_in(folder / "deep/down"), std::vector<std::string>{"m"});
  EXPECT_EQ(
      names_in(folder / "deep/down/m"),
      (std::vector<std::string>{"assets", "fingerprint.pb", "notes.txt", "saved_model.pb", "variables"}));
  EXPECT_EQ(saved_model::load(folder / "deep/down/m").variable("w").to_vector<float>(),
            std::vector<float>(4, 0));
  std::ofstream(folder / "file") << "";
  expect_error<FailedPreconditionError>([&] { saved_model::save(m, folder / "file"); }, "is no folder");
}

TEST(SaveModel, KerasModelsServe) {
  const TemporaryFolder folder;
  keras::Sequential model({keras::InputLayer({-1, 3}, {.name = "features"}), keras::layers::Dense(2),
                           keras::layers::BatchNormalization(), keras::layers::Dropout(0.5f)});
  const Tensor x = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  const Tensor y = model(x);
  saved_model::save(model, folder / "m");
  const auto loaded = saved_model::load(folder / "m");
  EXPECT_EQ(loaded.signatures().at("serving_default")({{"features", x}}).at("output_0").to_vector<float>(),
            y.to_vector<float>());
  EXPECT_EQ(Tensor(loaded(x)).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(Tensor(loaded.function("serve")(x)).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(loaded.trainable_variables().size(), 4u);
  EXPECT_EQ(loaded.variables().size(), model.variables().size());
  (void)loaded.call({x}, {{"training", true}});
  EXPECT_NE(Tensor(loaded(x)).to_vector<float>(), y.to_vector<float>());  // moving averages have moved

  struct Net : keras::Model {
    keras::layers::Dense out{1};
    Tensor call(const Tensor& in, const keras::CallArgs&) override { return out(in); }
    RW_TRACK(out)
  } net;
  expect_error<FailedPreconditionError>([&] { saved_model::save(net, folder / "net"); }, "is not built");
  const Tensor z = net(x);
  saved_model::save(net, folder / "net");
  EXPECT_EQ(Tensor(saved_model::load(folder / "net")(x)).to_vector<float>(), z.to_vector<float>());
}

TEST(SaveModel, FingerprintsAreThoseOfTheFile) {
  const TemporaryFolder folder;
  saved_model::save(Affine(), folder / "m");
  const format::SavedModel model = file_of(folder / "m");
  ASSERT_EQ(model.meta_graphs.size(), 1u);
  EXPECT_EQ(model.saved_model_schema_version, 1);
  EXPECT_EQ(model.meta_graphs[0].meta_info_def->tags, std::vector<std::string>{"serve"});
  EXPECT_TRUE(model.meta_graphs[0].signature_def.contains("__saved_model_init_op"));
}

}  // namespace
}  // namespace rw
