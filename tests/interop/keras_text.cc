// Layers of text and categories by the configs that Keras gives, for check_keras_text.py: what they learn
// from data, their results eagerly, in a function and in a dataset, their configs; and models in files.
//
//   keras_text layers CASES.json RESULTS.json
//   keras_text model MODEL.keras INPUTS.json RESULTS.json SAVED_AGAIN.keras
//
// Tensors are {"dtype", "shape", "values"}.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "rewind/keras/keras.h"
#include "rewind/keras/layers.h"
#include "rewind/keras/saving.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;         // NOLINT: a program of its own
using namespace rw::keras;  // NOLINT

Config read_json(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return format::parse_json(text.str(), path);
}
void write_json(const Config& value, const std::string& path) {
  std::ofstream(path) << format::to_text(value);
}

Tensor tensor_in(const Config& c) {
  Shape shape;
  for (const Config& d : *c.find("shape")->list()) shape.append(*d.integer());
  const Config::Array& values = *c.find("values")->list();
  const std::string& dtype = *c.find("dtype")->text();
  if (dtype == "string") {
    std::vector<std::string> all;
    for (const Config& v : values) all.push_back(*v.text());
    return constant(all, shape);
  }
  std::vector<double> all;
  for (const Config& v : values) all.push_back(v.integer() ? double(*v.integer()) : *v.real());
  return cast(constant(all, shape), parse_dtype(dtype));
}

Config config_of(const Tensor& t) {
  Config out;
  out["dtype"] = std::string(name_of(t.dtype()));
  Config::Array shape, values;
  for (int d = 0; d < t.rank(); ++d) shape.push_back(t.shape()[d]);
  if (t.dtype() == DType::kString)
    for (const std::string& v : t.to_vector<std::string>()) values.push_back(v);
  else
    for (const double v : cast(t, float64).to_vector<double>()) values.push_back(v);
  out["shape"] = shape;
  out["values"] = values;
  return out;
}

bool same(const Tensor& a, const Tensor& b) { return config_of(a) == config_of(b); }

template <class L>
void adapt_as(const L& layer, const Config& c) {
  const Tensor data = tensor_in(*c.find("adapt"));
  if (const Config* batch = c.find("batch"); batch && batch->integer())
    layer.adapt(data::Dataset::from_tensor_slices(data).batch(*batch->integer()));
  else layer.adapt(data);
}

Config run(const Config& c) {
  Config out;
  const LayerRef layer = saving::deserialize_keras_object<LayerRef>(*c.find("layer"));
  const auto* words = dynamic_cast<const StringLookup*>(&*layer);
  const auto* numbers = dynamic_cast<const IntegerLookup*>(&*layer);
  const auto* text = dynamic_cast<const TextVectorization*>(&*layer);
  const auto* bins = dynamic_cast<const Discretization*>(&*layer);
  const auto* normal = dynamic_cast<const Normalization*>(&*layer);
  if (c.find("adapt")) {
    if (words) adapt_as(*words, c);
    else if (numbers) adapt_as(*numbers, c);
    else if (text) adapt_as(*text, c);
    else if (bins) adapt_as(*bins, c);
    else normal->adapt(tensor_in(*c.find("adapt")));
  }
  if (words) out["vocabulary"] = config_of(constant(words->get_vocabulary()));
  if (numbers) out["vocabulary"] = config_of(constant(numbers->get_vocabulary()));
  if (text) out["vocabulary"] = config_of(constant(text->get_vocabulary()));
  out["config"] = saving::serialize_keras_object(layer);
  std::vector<Tensor> inputs;
  for (const Config& x : *c.find("inputs")->list()) inputs.push_back(tensor_in(x));
  if (text && c.find("config_ragged")) {
    const RaggedRows rows = text->rows(inputs[0]);
    out["output"] = config_of(rows.values);
    out["splits"] = config_of(rows.row_splits);
    return out;
  }
  const Tensor result = (*layer)(inputs);
  out["output"] = config_of(result);
  auto traced = function([&](const std::vector<Tensor>& in) { return (*layer)(in); });
  if (!same(traced(inputs), result)) out["error"] = "another result in a function";
  if (inputs.size() == 1 && inputs[0].rank() > 0) {
    const auto mapped =
        data::Dataset::from_tensor_slices(inputs[0]).batch(inputs[0].shape()[0]).map([&](const Tensor& x) {
          return (*layer)(x);
        });
    for (const Tensor& element : mapped)
      if (!same(element, result)) out["error"] = "another result in a dataset";
  }
  return out;
}

Config results_of(const Config& cases) {
  Config::Array all;
  for (const Config& c : *cases.list()) {
    try {
      all.push_back(run(c));
    } catch (const std::exception& e) {
      Config failed;
      failed["error"] = std::string(e.what());
      all.push_back(failed);
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.at(0) == "layers") {
      write_json(results_of(read_json(args.at(1))), args.at(2));
      return 0;
    }
    const Model model = models::load_model(args.at(1));
    std::vector<Tensor> inputs;
    const Config list = read_json(args.at(2));
    for (const Config& x : *list.list()) inputs.push_back(tensor_in(x));
    const Tensor result = model(inputs);
    write_json(config_of(result), args.at(3));
    model.save(args.at(4));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
