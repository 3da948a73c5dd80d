// TensorFlow's guide "Using the SavedModel format", cell by cell.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

namespace fs = std::filesystem;
namespace keras = rw::keras;
using rw::Tensor;
using rw::TensorSpec;

Tensor waves(const rw::Shape& shape) {
  return rw::reshape(rw::sin(0.7f * rw::range(0.0f, float(shape.num_elements()))), shape);
}

struct CustomModule : rw::Module {
  rw::Variable v{1.0f, {.name = "v"}};
  Tensor forward(const Tensor& x) { return x * v; }
  void set(const Tensor& new_v) { v.assign(new_v); }
  rw::Function<Tensor(const Tensor&)> call{this, &CustomModule::forward, {.argument_names = {"x"}}};
  rw::Function<void(const Tensor&)> mutate{
      this,
      &CustomModule::set,
      {.input_signature = {{TensorSpec{{}, rw::float32}}}, .argument_names = {"new_v"}}};
  RW_TRACK(v, call, mutate)
};

struct CustomModuleWithOutputName : rw::Module {
  rw::Variable v{1.0f, {.name = "v"}};
  std::map<std::string, Tensor> forward(const Tensor& x) { return {{"custom_output_name", x * v}}; }
  rw::Function<std::map<std::string, Tensor>(const Tensor&)> call{
      this, &CustomModuleWithOutputName::forward, {.input_signature = {{TensorSpec{}}}}};
  RW_TRACK(v, call)
};

template <class Names>
void print_names(const Names& names) {
  std::cout << "[";
  bool first = true;
  for (const std::string& name : names) {
    std::cout << (first ? "'" : ", '") << name << "'";
    first = false;
  }
  std::cout << "]\n";
}
template <class Map>
std::set<std::string> keys(const Map& map) {
  std::set<std::string> names;
  for (const auto& [key, value] : map) names.insert(key);
  return names;
}
std::set<std::string> files(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  names.erase("assets");
  return names;
}
void print_decoded(const char* what, const Tensor& result) {
  std::cout << what;
  for (const int32_t i : rw::math::top_k(result[0], 5).indices.to_vector<int32_t>())
    std::cout << " " << i + 1;
  std::cout << "\n";
}

void print_variables(const char* start, const std::vector<rw::Variable>& variables, const char* kind) {
  std::cout << start << " " << variables.size() << " " << kind << " variables: ";
  for (size_t i = 0; i < std::min<size_t>(variables.size(), 3); ++i) std::cout << variables[i].name() << ", ";
  std::cout << "...\n";
}

}  // namespace

int main() {
  std::string folder = (fs::temp_directory_path() / "guide-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;

  // Creating a SavedModel from Keras
  keras::Sequential pretrained_model(
      {keras::InputLayer({-1, 16, 16, 3}, {.name = "image"}),
       keras::Conv2D(8, 3, {.strides = 2, .padding = "same", .use_bias = false}), keras::BatchNormalization(),
       keras::ReLU(), keras::DepthwiseConv2D(3, {.padding = "same"}), keras::GlobalAveragePooling2D(),
       keras::Dense(10, {.activation = "softmax", .name = "predictions"})});
  std::vector<Tensor> values;
  for (const rw::Variable& w : pretrained_model.weights())
    values.push_back(rw::abs(0.3f * waves(w.shape())) + 0.01f);
  pretrained_model.set_weights(values);
  const Tensor x = waves({1, 16, 16, 3});
  print_decoded("Result before saving:", pretrained_model(x));
  const std::string mobilenet_save_path = folder + "/mobilenet/1/";
  rw::saved_model::save(pretrained_model, mobilenet_save_path);
  auto loaded = rw::saved_model::load(mobilenet_save_path);
  print_names(keys(loaded.signatures()));
  const auto infer = loaded.signatures().at("serving_default");
  print_names(keys(infer.outputs()));
  const Tensor labeling = infer({{"image", x}}).at("output_0");
  print_decoded("Result after saving and loading:", labeling);
  std::cout << labeling << "\n";

  // The SavedModel format on disk
  print_names(files(mobilenet_save_path));
  print_names(files(mobilenet_save_path + "variables"));

  // Saving a custom model
  CustomModule module;
  module.call(rw::constant(0.0f));
  std::cout << "Saving model...\n";
  rw::saved_model::save(module, folder + "/module_no_signatures");

  // Loading and using a custom model
  auto imported = rw::saved_model::load(folder + "/module_no_signatures");
  std::cout << imported(rw::constant(3.0f)) << "\n";
  imported.function("mutate").call({rw::constant(2.0f)});
  std::cout << imported(rw::constant(3.0f)) << "\n";
  try {
    imported(rw::constant({3.0f}));
  } catch (const rw::InvalidArgumentError&) { std::cout << "no trace takes a vector\n"; }

  // Basic fine-tuning
  keras::SGD optimizer({.learning_rate = 0.05});
  const auto train_step = [&] {
    rw::GradientTape tape;
    const Tensor loss = rw::square(10.0f - imported(rw::constant(2.0f)));
    const auto variables = tape.watched_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    return loss;
  };
  for (int i = 0; i < 10; ++i) {
    const float loss = train_step().item<float>();
    std::printf("loss=%.2f v=%.2f\n", loss, imported.variable("v").item<float>());
    std::fflush(stdout);  // "v" approaches 5, "loss" approaches 0
  }

  // General fine-tuning
  loaded = rw::saved_model::load(mobilenet_save_path);
  print_variables("MobileNet has", loaded.trainable_variables(), "trainable");
  print_variables("MobileNet also has", loaded.non_trainable_variables(), "non-trainable");

  // Specifying signatures during export
  std::cout << imported.signatures().size() << "\n";
  const auto call = module.call.get_concrete_function(TensorSpec{});
  rw::saved_model::save(module, folder + "/module_with_signature",
                        {.signatures = {{"serving_default", call}}});
  print_names(keys(rw::saved_model::load(folder + "/module_with_signature").signatures()));

  rw::saved_model::save(
      module, folder + "/module_with_multiple_signatures",
      {.signatures = {{"serving_default", call},
                      {"array_input", module.call.get_concrete_function(TensorSpec{{-1}})}}});
  const auto several = rw::saved_model::load(folder + "/module_with_multiple_signatures");
  print_names(keys(several.signatures()));
  std::cout << several.signatures().at("array_input")({{"x", rw::constant({1.0f, 2.0f})}}).at("output_0")
            << "\n";

  CustomModuleWithOutputName module_output;
  rw::saved_model::save(module_output, folder + "/module_with_output_name",
                        {.signatures = {{"serving_default", module_output.call}}});
  const auto named = rw::saved_model::load(folder + "/module_with_output_name");
  print_names(keys(named.signatures().at("serving_default").outputs()));
}
