// Runs SavedModels for check_saved_model.py, which compares results with TensorFlow's.
//   saved_model_run DIR PLAN IN OUT [AGAIN]
// PLAN has one call a line: `signature NAME` with inputs `K/NAME` in IN (a safetensors file; K is the line's
// number), or `function PATH` with arguments behind it: `t` stands for the tensor `K/a0`, `K/a1`, ... in
// turn, `strings` for one of strings, `True`, `False`, `None`, `i:3`, `f:0.5`, `s:text` for Python's values,
// `[` and `]`, `(` and `)` for lists and tuples, `{ key value key value }` for dictionaries, `name=` in front
// of an argument for one that is passed by name. A `+` in front of the line asks for gradients, `++` for
// second ones; a `?` in front of that allows that ops are missing: `K/missing` then has the message.
// Results: `K/out/I`, gradients `K/grad/PATH` by the variables' paths, and at the end all variables as
// `final/PATH`. A tensor of strings is two arrays: `NAME#sizes` in its shape, `NAME#bytes` of all strings
// behind each other. AGAIN gets the model as it was loaded, before it is run.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "rewind/format/safetensors.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;  // NOLINT: a program of its own
using saved_model::Value;

struct Out {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  void add(const std::string& name, const Tensor& t) {
    names.push_back(name);
    tensors.push_back(t);
  }
  void write(const char* path) const {
    std::vector<format::SafetensorsArray> arrays;
    for (size_t i = 0; i < names.size(); ++i)
      arrays.push_back({names[i], tensors[i].dtype(), tensors[i].shape(), tensors[i].host_data()});
    format::write_safetensors(path, arrays, {});
  }
};

Tensor read_tensor(const VariablesFile& in, const std::string& name, bool is_string) {
  if (!is_string) return in.read(name);
  const Tensor sizes = in.read(name + "#sizes"), bytes = in.read(name + "#bytes");
  std::vector<std::string> strings;
  const auto* at = reinterpret_cast<const char*>(bytes.data<uint8_t>().data());
  for (const int64_t size : sizes.to_vector<int64_t>()) {
    strings.emplace_back(at, size_t(size));
    at += size;
  }
  return tensor_from_strings(strings, sizes.shape());
}

void add_tensor(Out& out, const std::string& name, const Tensor& t) {
  if (t.dtype() != DType::kString) return out.add(name, t);
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;
  for (const std::string& s : t.to_vector<std::string>()) {
    sizes.push_back(int64_t(s.size()));
    bytes.insert(bytes.end(), s.begin(), s.end());
  }
  bytes.push_back(0);  // never empty
  out.add(name + "#sizes", reshape(constant(sizes), t.shape().dims().empty() ? Shape{} : t.shape()));
  out.add(name + "#bytes", constant(bytes));
}

class Call {
 public:
  Call(const saved_model::LoadedModel& model, const VariablesFile& in, int number, std::string line)
      : model_(model), in_(in), key_(std::to_string(number) + "/"), words_(std::move(line)) {
    words_ >> kind_ >> name_;
  }

  std::vector<Tensor> run() {
    if (kind_ == "signature") {
      std::map<std::string, Tensor> inputs;
      const auto& f = model_.signatures().at(name_);
      for (const auto& [name, spec] : f.inputs())
        inputs[name] = read_tensor(in_, key_ + name, spec.dtype == DType::kString);
      std::vector<Tensor> results;
      for (const auto& [name, t] : f(inputs)) results.push_back(t);
      return results;
    }
    std::vector<Value> positional;
    std::map<std::string, Value> by_name;
    for (std::string word; words_ >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos || word[1] == ':') positional.push_back(value(word));
      else by_name[word.substr(0, equals)] = value(word.substr(equals + 1));
    }
    return model_.function(name_).call(positional, by_name);
  }

 private:
  Value value(const std::string& word) {
    if (word == "t" || word == "strings")
      return read_tensor(in_, key_ + "a" + std::to_string(next_++), word == "strings");
    if (word == "True") return true;
    if (word == "False") return false;
    if (word == "None") return nullptr;
    if (word == "{") {
      saved_model::Dict dict;
      std::string key, inside;
      while (words_ >> key && key != "}" && words_ >> inside) dict[key] = value(inside);
      return dict;
    }
    if (word == "[" || word == "(") {
      saved_model::List list{.elements = {}, .tuple = word == "("};
      for (std::string w; words_ >> w && w != "]" && w != ")";) list.elements.push_back(value(w));
      return list;
    }
    const std::string rest = word.substr(2);
    if (word[0] == 'i') return std::stoll(rest);
    if (word[0] == 'f') return std::stod(rest);
    return rest;
  }

  const saved_model::LoadedModel& model_;
  const VariablesFile& in_;
  std::string key_, kind_, name_;
  std::istringstream words_;
  int next_ = 0;
};

// A number that depends on every element of every float result, each in a way of its own.
Tensor loss_of(const std::vector<Tensor>& results) {
  Tensor loss = 0.0;
  for (const Tensor& t : results) {
    if (t.dtype() != DType::kFloat32) continue;
    const Tensor x = reshape(t, {-1});
    loss = loss + reduce_sum(x * cos(cast(range(0, x.dim(0)), DType::kFloat32)));
  }
  return loss;
}

void run(const char* dir, const char* plan, const char* in_path, const char* out_path, const char* again) {
  const auto model = saved_model::load(dir);
  if (again && model.missing_ops().empty()) saved_model::save(model, again);
  const VariablesFile in(in_path);
  Out out;
  std::vector<TrackedChild> variables;
  for (const TrackedChild& child : model.children())
    if (child.variable.trainable()) variables.push_back(child);
  std::ifstream lines(plan);
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    const bool may_miss = line[0] == '?';
    line.erase(0, may_miss);
    const size_t order = line.find_first_not_of('+');
    std::optional<GradientTape> outer, tape;
    if (order == 2) outer.emplace();
    if (order > 0) tape.emplace();
    const std::string key = std::to_string(number) + "/";
    std::vector<Tensor> results;
    try {
      results = Call(model, in, number, line.substr(order)).run();
    } catch (const UnimplementedError& e) {
      if (!may_miss) throw;
      const std::string what = e.what();
      out.add(key + "missing", constant(std::vector<uint8_t>(what.begin(), what.end())));
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) add_tensor(out, key + "out/" + std::to_string(i), results[i]);
    if (order == 0) continue;
    Tensor loss = loss_of(results);
    std::vector<Variable> sources;
    for (const TrackedChild& v : variables) sources.push_back(v.variable);
    auto gradients = tape->gradient(loss, sources);
    if (order == 2) {
      Tensor sum = 0.0;
      for (const auto& g : gradients)
        if (g) sum = sum + reduce_sum(square(Tensor(g)));
      gradients = outer->gradient(sum, sources);
    }
    for (size_t i = 0; i < sources.size(); ++i)
      if (gradients[i]) out.add(key + "grad/" + variables[i].path, gradients[i]);
  }
  for (const TrackedChild& child : model.children())
    if (child.variable.dtype() != DType::kString) out.add("final/" + child.path, child.variable.value());
  out.write(out_path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  try {
    run(argv[1], argv[2], argv[3], argv[4], argc == 6 ? argv[5] : nullptr);
    return 0;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
