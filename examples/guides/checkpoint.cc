// TensorFlow's guide "Training checkpoints", cell by cell.
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

// A simple linear model.
struct Net : keras::Model {
  keras::Dense l1{5};
  Tensor call(const Tensor& x, const keras::CallArgs&) override { return l1(x); }
  RW_TRACK(l1)
};

auto toy_dataset() {
  const Tensor inputs = rw::reshape(rw::range(0.0f, 10.0f), {10, 1});
  const Tensor labels = inputs * 5.0f + rw::reshape(rw::range(0.0f, 5.0f), {1, 5});
  return rw::data::Dataset::from_tensor_slices(std::tuple{inputs, labels}).repeat().batch(2);
}

// Trains `net` on an example using `optimizer`.
Tensor train_step(Net& net, const Tensor& x, const Tensor& y, keras::Optimizer& optimizer) {
  rw::GradientTape tape;
  const Tensor loss = rw::reduce_mean(rw::abs(net(x) - y));
  const auto variables = net.trainable_variables();
  optimizer.apply_gradients(tape.gradient(loss, variables), variables);
  return loss;
}

void set_waves(Net& net) {
  net(rw::zeros({1, 1}));
  std::vector<Tensor> values;
  for (const rw::Variable& w : net.weights())
    values.push_back(0.3f * rw::reshape(rw::sin(0.7f * rw::range(0.0f, 5.0f)), w.shape()));
  net.set_weights(values);
}

void train_and_checkpoint(bool with_iterator, std::vector<std::string>* kept) {
  keras::Adam opt({.learning_rate = 0.1});
  Net net;
  set_waves(net);
  auto iterator = toy_dataset().iterator();
  const rw::Variable step(1);
  const rw::train::Checkpoint ckpt({{"step", step}, {"optimizer", opt}, {"net", net}});
  if (with_iterator) ckpt.track("iterator", iterator);
  rw::train::CheckpointManager manager(ckpt, "./tf_ckpts", {.max_to_keep = 3});

  ckpt.restore(manager.latest_checkpoint());
  if (!manager.latest_checkpoint().empty())
    std::cout << "Restored from " << manager.latest_checkpoint() << "\n";
  else std::cout << "Initializing from scratch.\n";
  for (int i = 0; i < 50; ++i) {
    const auto [x, y] = *iterator.next();
    const Tensor loss = train_step(net, x, y, opt);
    step.assign_add(1);
    if (step.item<int32_t>() % 10 == 0) {
      const std::string save_path = manager.save();
      std::cout << "Saved checkpoint for step " << step.item<int32_t>() << ": " << save_path << "\n";
      std::printf("loss %1.2f\n", loss.item<float>());
      std::fflush(stdout);
    }
  }
  *kept = manager.checkpoints();
}

void print_list(const std::vector<std::string>& list) {
  std::cout << "[";
  for (size_t i = 0; i < list.size(); ++i) std::cout << (i ? ", '" : "'") << list[i] << "'";
  std::cout << "]\n";
}
std::set<std::string> files(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::vector<std::string> weights_files() {
  std::vector<std::string> names;
  for (const std::string& name : files("."))
    if (name.ends_with(".h5")) names.push_back(name);
  return names;
}

}  // namespace

// A folder that is given holds what the program in the other language has written: training goes on from
// there.
int main(int argc, char** argv) {
  const bool given = argc > 1;
  std::string folder = given ? argv[1] : (fs::temp_directory_path() / "guide-XXXXXX").string();
  if (!given && !mkdtemp(folder.data())) return 1;
  fs::current_path(folder);

  // Saving from Keras' training API
  Net easy;
  set_waves(easy);
  easy.save_weights("easy.weights.h5");
  print_list(weights_files());

  // Write checkpoints: manual checkpointing, twice
  std::vector<std::string> kept;
  for (int i = 0; i < (given ? 1 : 2); ++i) train_and_checkpoint(!given, &kept);
  print_list(kept);  // List the three remaining checkpoints
  for (const std::string& name : files("tf_ckpts")) std::cout << name << "\n";

  // Loading mechanics
  const rw::Variable to_restore(rw::zeros({5}));
  std::cout << to_restore.value() << "\n";  // All zeros
  const rw::train::Checkpoint fake_layer({{"bias", to_restore}});
  const rw::train::Checkpoint fake_net({{"l1", fake_layer}});
  const rw::train::Checkpoint new_root({{"net", fake_net}});
  const rw::train::LoadStatus status = new_root.restore(rw::train::latest_checkpoint("./tf_ckpts/"));
  std::cout << to_restore.value() << "\n";  // This gets the restored value.
  status.assert_existing_objects_matched();

  // Deferred restoration
  const rw::Variable deferred(rw::zeros({1, 5}));
  std::cout << deferred.value() << "\n";  // Not restored; still zeros
  fake_layer.track("_kernel", deferred);
  std::cout << deferred.value() << "\n";  // Restored
  status.assert_existing_objects_matched();
  try {
    status.assert_consumed();
  } catch (const rw::FailedPreconditionError&) { std::cout << "values are left\n"; }

  // Manually inspecting checkpoints
  const auto reader = rw::train::load_checkpoint("./tf_ckpts/");
  const auto& shape_from_key = reader.get_variable_to_shape_map();
  const auto& dtype_from_key = reader.get_variable_to_dtype_map();
  for (const auto& [key, shape] : shape_from_key)
    if (key.ends_with("VARIABLE_VALUE")) std::cout << key << "\n";
  const std::string key = "net/l1/_kernel/.ATTRIBUTES/VARIABLE_VALUE";
  std::cout << "Shape: " << shape_from_key.at(key).to_string() << "\n";
  std::cout << "Dtype: " << rw::name_of(dtype_from_key.at(key)) << "\n";
  std::cout << reader.get_tensor(key) << "\n";

  // List and dictionary tracking
  std::vector<rw::Variable> listed{rw::Variable(1.0f)};
  listed.emplace_back(2.0f);
  const std::map<std::string, rw::Variable> mapped{{"one", listed[0]}, {"two", listed[1]}};
  const std::string save_path =
      rw::train::Checkpoint({{"listed", listed}, {"mapped", mapped}}).save("./tf_list_example");

  const rw::Variable v2(0.0f);
  std::cout << v2.value() << "\n";  // Not restored yet
  const std::map<std::string, rw::Variable> two{{"two", v2}};
  const rw::train::Checkpoint restore({{"mapped", two}});
  restore.restore(save_path);
  std::cout << v2.value() << "\n";
  const std::vector<rw::Variable> later{rw::Variable(0.0f)};
  restore.track("listed", later);
  restore.restore(save_path);
  std::cout << later[0].value() << "\n";  // Restored by restore()
}
