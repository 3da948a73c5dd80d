// Model: weights, and the state of its training, to and from files. Those of Keras are in keras_files.h; in
// the others, of named arrays, names are Keras' paths of the weights, "sequential/dense/kernel"; the
// optimizer's begin with "optimizer/" and end with the weight's path and the slot:
// "optimizer/sequential/dense/kernel/momentum"; where training stands begins with "position/".
//
// Layers without a name of their own have a number that counts the layers of the process, so the same model
// made twice has different paths. Where paths do not match as they are, such layers are numbered within
// the model and within the file, in order, and compared again.
#include <algorithm>
#include <charconv>
#include <climits>
#include <functional>
#include <set>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/format/checksum.h"
#include "rewind/format/zip.h"
#include "rewind/keras/callback_state.h"
#include "rewind/keras/keras_files.h"
#include "rewind/keras/layer_state.h"
#include "rewind/keras/model.h"
#include "rewind/keras/trainer.h"
#include "rewind/tensor/trace.h"

namespace rw::keras {
namespace {

constexpr const char* kSaveWeights = "save_weights";
constexpr const char* kLoadWeights = "load_weights";
constexpr std::string_view kOptimizer = "optimizer/";
constexpr std::string_view kPosition = "position/";
constexpr std::string_view kChecksum = "position/checksum";

bool is_position(const std::string& name) { return name.starts_with(kPosition); }
bool is_training_state(const std::string& name) {
  return name.starts_with(kOptimizer) || name.ends_with("/seed_generator_state") ||
         name.find("/rnn_state_") != std::string::npos || is_position(name);
}

// ---- names ------------------------------------------------------------------------------------------------

// Paths of the weights; a path that several have gets a number from the second on.
class Names {
 public:
  std::string add(const Variable& v, const std::string& path) {
    const int count = ++count_[path];
    const std::string name = count == 1 ? path : path + "#" + std::to_string(count);
    by_id_[v.id()] = name;
    return name;
  }
  std::string of(const Variable& v) const {
    const auto at = by_id_.find(v.id());
    return at == by_id_.end() ? weight_path(v) : at->second;
  }

 private:
  std::map<std::string, int> count_;
  std::unordered_map<const void*, std::string> by_id_;
};

std::vector<NamedVariable> named_weights(const Model& model, const Optimizer* optimizer) {
  std::vector<NamedVariable> list;
  Names names;
  for (const Variable& v : model.weights()) list.push_back({names.add(v, weight_path(v)), v});
  if (!optimizer) return list;
  for (const Variable& v : model.random_states()) list.push_back({weight_path(v), v});
  Names own;
  for (const Optimizer::OwnVariable& v : optimizer->own_variables()) {
    const std::string path =
        std::string(kOptimizer) + (v.beside.defined() ? names.of(v.beside) + "/" : "") + v.name;
    list.push_back({own.add(v.variable, path), v.variable});
  }
  return list;
}

// ---- where training stands --------------------------------------------------------------------------------

// A file with a position has a checksum of all its arrays: of a damaged one nothing is believed, since the
// training that went on from it would look right.
class FileChecksum {
 public:
  void add(const std::string& name, const Tensor& value) {
    format::Checksum sum;
    sum.add(name);
    sum.add(std::string(name_of(value.dtype())) + value.shape().to_string());
    sum.add(value.host_data(), size_t(value.size()) * size_of(value.dtype()));
    total_ += sum.value();  // in any order
  }
  int64_t value() const { return int64_t(total_); }

 private:
  uint64_t total_ = 0;
};

std::string position_name(const char* what, size_t i) {
  return std::string(kPosition) + what + "/" + std::to_string(i);
}

Tensor bytes_tensor(const std::string& text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  return constant(bytes, {int64_t(bytes.size())});
}
std::string bytes_of(const Tensor& t) {
  const auto bytes = t.to_vector<uint8_t>();
  return {bytes.begin(), bytes.end()};
}

std::string logs_bytes(const std::vector<Logs::Item>& logs) {
  data::PositionWriter to;
  to.number(int64_t(logs.size()));
  for (const auto& [name, value] : logs) {
    to.text(name);
    put_real(to, value);
  }
  return to.take();
}
std::vector<Logs::Item> logs_in(const std::string& bytes) {
  data::PositionReader from(bytes, "position/logs");
  std::vector<Logs::Item> logs;
  for (int64_t left = from.number(0, int64_t(bytes.size())); left > 0; --left) {
    std::string name = from.text();
    logs.emplace_back(std::move(name), take_real(from));
  }
  from.finish();
  return logs;
}

void add_position(const TrainingPosition& at, std::vector<NamedVariable>* list) {
  auto add = [&](const std::string& name, const Tensor& value) {
    list->push_back({name, Variable(value, {.trainable = false})});
  };
  add(std::string(kPosition) + "epoch_and_step", constant(std::vector<int64_t>{at.epoch, at.step}));
  add(std::string(kPosition) + "data", bytes_tensor(at.data));
  for (size_t i = 0; i < at.metrics.size(); ++i) add(position_name("metrics", i), at.metrics[i]);
  for (size_t i = 0; i < at.weights.size(); ++i) add(position_name("weights", i), at.weights[i]);
  for (size_t i = 0; i < at.callbacks.size(); ++i)
    add(position_name("callbacks", i), bytes_tensor(at.callbacks[i]));
  if (!at.logs.empty()) add(std::string(kPosition) + "logs", bytes_tensor(logs_bytes(at.logs)));
  FileChecksum sum;
  for (NamedVariable& v : *list) {  // snapshots, so that what is summed is what is written
    const Tensor value = v.variable.value();
    sum.add(v.name, value);
    v.variable = Variable(value, {.trainable = false});
  }
  add(std::string(kChecksum), constant(std::vector<int64_t>{sum.value()}));
}

[[noreturn]] void fail_position(const std::string& path, const std::string& what) {
  throw DataLossError("[load_weights] " + path + ": the training position is damaged: " + what);
}

// Throws DataLossError unless the arrays of a file with a position are those that were written.
void check_arrays(const VariablesFile& file, const std::string& path) {
  const std::vector<std::string> names = file.names();
  if (std::none_of(names.begin(), names.end(), is_position)) return;
  FileChecksum sum;
  Tensor wanted;
  for (const std::string& name : names) {
    const Tensor value = file.read(name);
    if (name == kChecksum) wanted = value;
    else sum.add(name, value);
  }
  if (!wanted.defined() || wanted.dtype() != DType::kInt64 || wanted.shape() != Shape{1})
    fail_position(path, "the file has no checksum; without its position/ arrays it is loaded as it is");
  if (wanted.to_vector<int64_t>()[0] != sum.value())
    fail_position(path,
                  "the checksum of the file's arrays does not match; without its position/ arrays it is "
                  "loaded as it is");
}

std::optional<TrainingPosition> position_in(const VariablesFile& file, const std::string& path) {
  const std::vector<std::string> names = file.names();
  const auto arrays = size_t(std::count_if(names.begin(), names.end(), is_position));
  if (arrays == 0) return {};
  const Tensor where = file.read(std::string(kPosition) + "epoch_and_step");
  const Tensor data = file.read(std::string(kPosition) + "data");
  if (!where.defined() || where.dtype() != DType::kInt64 || where.shape() != Shape{2} || !data.defined() ||
      data.dtype() != DType::kUint8 || data.rank() != 1)
    fail_position(path, "save_weights does not write such arrays");
  const auto numbers = where.to_vector<int64_t>();
  if (numbers[0] < 0 || numbers[0] > INT_MAX || numbers[1] < 0)
    fail_position(path, "it stands behind step " + std::to_string(numbers[1]) + " of epoch " +
                            std::to_string(numbers[0]));
  TrainingPosition at{int(numbers[0]), numbers[1], bytes_of(data)};
  auto take = [&](const char* what, std::vector<Tensor>* to) {
    for (Tensor t; (t = file.read(position_name(what, to->size()))).defined();) to->push_back(t);
  };
  take("metrics", &at.metrics);
  take("weights", &at.weights);
  std::vector<Tensor> callbacks;
  take("callbacks", &callbacks);
  for (const Tensor& state : callbacks) {
    if (state.dtype() != DType::kUint8 || state.rank() != 1)
      fail_position(path, "the state of a callback is no list of bytes");
    at.callbacks.push_back(bytes_of(state));
  }
  const Tensor logs = file.read(std::string(kPosition) + "logs");
  if (logs.defined() && logs.dtype() == DType::kUint8) at.logs = logs_in(bytes_of(logs));
  const size_t known = 3 + (logs.defined() ? 1 : 0);  // with the checksum
  if (arrays != known + at.metrics.size() + at.weights.size() + callbacks.size())
    fail_position(path, "it has arrays that save_weights does not write");
  return at;
}

// ---- numbers ----------------------------------------------------------------------------------------------

struct Numbered {
  std::string base;
  int64_t number = 0;
};

// "dense_3" -> dense, 3; "dense" -> dense, 0.
Numbered numbered(const std::string& name) {
  const size_t line = name.rfind('_');
  if (line != std::string::npos && line + 1 < name.size() && name[line + 1] != '0') {
    int64_t number = 0;
    const char* end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data() + line + 1, end, number);
    if (error == std::errc() && at == end && number > 0) return {name.substr(0, line), number};
  }
  return {name, 0};
}

std::set<std::string> auto_named_bases(const LayerState& root) {
  std::set<std::string> bases{"seed_generator"};
  std::set<const LayerState*> seen;
  const std::function<void(const LayerState&)> visit = [&](const LayerState& s) {
    if (!seen.insert(&s).second) return;
    if (s.auto_named) bases.insert(numbered(s.name).base);
    for (const auto& child : s.children_now()) visit(*child);
  };
  visit(root);
  return bases;
}

// Each name with the numbers of automatic names counted from 0 among these names.
std::vector<std::string> renumbered(const std::vector<std::string>& names,
                                    const std::set<std::string>& bases) {
  std::map<std::string, std::set<int64_t>> numbers;
  auto parts = [&](const std::string& name, const std::function<std::string(const std::string&)>& part) {
    std::string out;
    for (size_t begin = 0; begin <= name.size();) {
      const size_t slash = std::min(name.find('/', begin), name.size());
      out += (begin ? "/" : "") + part(name.substr(begin, slash - begin));
      begin = slash + 1;
    }
    return out;
  };
  for (const std::string& name : names)
    parts(name, [&](const std::string& part) {
      const Numbered n = numbered(part);
      if (bases.contains(n.base)) numbers[n.base].insert(n.number);
      return part;
    });
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back(parts(name, [&](const std::string& part) {
      const Numbered n = numbered(part);
      const auto at = numbers.find(n.base);
      if (at == numbers.end()) return part;
      return n.base + "_" + std::to_string(std::distance(at->second.begin(), at->second.find(n.number)));
    }));
  return out;
}

// Which array each variable takes.
std::vector<VariablesFile::Target> targets_in(const VariablesFile& file,
                                              const std::vector<NamedVariable>& variables,
                                              const LayerState& model) {
  std::vector<VariablesFile::Target> targets;
  std::vector<std::string> mine;
  const std::vector<std::string> theirs = file.names();
  const std::set<std::string> there(theirs.begin(), theirs.end());
  bool all = true;
  for (const NamedVariable& v : variables) {
    targets.push_back({v, v.name});
    mine.push_back(v.name);
    all &= there.contains(v.name);
  }
  if (all) return targets;
  const std::set<std::string> bases = auto_named_bases(model);
  const std::vector<std::string> mine_counted = renumbered(mine, bases);
  const std::vector<std::string> theirs_counted = renumbered(theirs, bases);
  std::map<std::string, std::string> array_of;
  for (size_t i = 0; i < theirs.size(); ++i) array_of[theirs_counted[i]] = theirs[i];
  std::vector<VariablesFile::Target> counted = targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto at = array_of.find(mine_counted[i]);
    if (at == array_of.end()) return targets;  // another model: messages tell the names as they are
    counted[i].array = at->second;
  }
  return counted;
}

}  // namespace

void Model::save_weights(const std::string& path, const SaveWeightsOptions& options) const {
  const WeightsFormat format = weights_format(path);
  if (!built() && weights().empty())
    fail_precondition(
        kSaveWeights,
        "model \"" + name() + "\" has no weights yet: call it on data, or build_for(input_shape), first");
  if (format == WeightsFormat::kArchive)
    fail_invalid(kSaveWeights,
                 path +
                     ": a .keras archive is a whole model's, which save_model writes; weights alone go "
                     "to .weights.h5, .safetensors or .npz");
  if (format == WeightsFormat::kArrays) {
    std::vector<NamedVariable> list = named_weights(*this, options.training_state ? &optimizer() : nullptr);
    if (options.position) add_position(*options.position, &list);
    return save_variables(path, list, {{"format", "rewind"}});
  }
  if (current_trace()) fail_precondition(kSaveWeights, "weights are saved outside of functions");
  if (options.position)
    fail_invalid(kSaveWeights,
                 path + ": Keras' files have no place for a training position; a .safetensors file has");
  WeightsTree tree;
  if (format == WeightsFormat::kKeras) {
    if (options.training_state) (void)optimizer();  // throws unless there is one
    put_weights(*this, &tree);
  } else {
    put_legacy_weights(*this, "", &tree);
    if (options.training_state) put_legacy_optimizer(optimizer(), &tree);
  }
  format::write_hdf5(path, tree.root, kSaveWeights);
}

namespace {

LoadReport load_keras_file(const Model& model, const std::string& path, WeightsFormat format,
                           const LoadWeightsOptions& options) {
  if (format == WeightsFormat::kArchive) {
    const format::ZipFile archive(path, kLoadWeights, options.limit);
    const format::Hdf5File file(archive.open(archive.at("model.weights.h5")), options.limit);
    return load_weights(model, file.root(), path, options);
  }
  const format::Hdf5File file(path, kLoadWeights, options.limit);
  if (format == WeightsFormat::kKeras) return load_weights(model, file.root(), path, options);
  const format::Hdf5Object& root = file.root();
  const bool whole =
      !root.attribute("layer_names") && !root.attribute("layer_names0") && root.find("model_weights");
  const LoadReport report =
      load_legacy_weights(model, whole ? root.at("model_weights") : root, path, options);
  if (options.training_state && !load_legacy_optimizer(model.optimizer(), root))
    fail_invalid(kLoadWeights, path + ": its optimizer's variables are missing, or are not those of \"" +
                                   model.optimizer().name() + "\"");
  return report;
}

}  // namespace

LoadedWeights Model::load_weights(const std::string& path, const LoadWeightsOptions& options) const {
  if (!built() && weights().empty())
    fail_precondition(
        kLoadWeights,
        "model \"" + name() + "\" has no weights yet: call it on data, or build_for(input_shape), first");
  const WeightsFormat format = weights_format(path);
  if (options.by_name && format != WeightsFormat::kLegacy)
    fail_invalid(kLoadWeights, path + ": by_name is for older .h5 and .hdf5 files only");
  const Optimizer* training = options.training_state ? &optimizer() : nullptr;
  if (training) training->build(trainable_weights());
  if (format != WeightsFormat::kArrays) {
    if (current_trace()) fail_precondition(kLoadWeights, "weights are loaded outside of functions");
    return {load_keras_file(*this, path, format, options), {}};
  }
  const std::vector<NamedVariable> list = named_weights(*this, training);
  const VariablesFile file(path, options.limit);
  check_arrays(file, path);
  const std::optional<TrainingPosition> position = position_in(file, path);
  const LoadReport report =
      file.load(targets_in(file, list, *layer_state()), "model \"" + name() + "\"",
                {.skip_mismatch = options.skip_mismatch}, training ? is_position : is_training_state);
  return {report, position};
}

}  // namespace rw::keras
