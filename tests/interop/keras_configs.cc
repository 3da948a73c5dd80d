// Configs for check_keras_configs.py, which compares them with Keras'.
//   keras_configs objects FILE    lines "kind<TAB>JSON": each object is made and its own config printed
//   keras_configs model FILE      the JSON of a model: made, and its own JSON printed
#include <cstdio>
#include <fstream>
#include <sstream>

#include "rewind/keras/keras.h"
#include "rewind/rewind.h"

namespace {

using namespace rw::keras;  // NOLINT: a program of its own

std::string text_of(const char* path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

template <class T>
Config again(const Config& c) {
  return saving::serialize_keras_object(saving::deserialize_keras_object<T>(c));
}

Config made_again(const std::string& kind, const Config& c) {
  if (kind == "layer") return again<LayerRef>(c);
  if (kind == "initializer") return again<Initializer>(c);
  if (kind == "regularizer") return again<Regularizer>(c);
  if (kind == "constraint") return again<Constraint>(c);
  if (kind == "activation") return again<Activation>(c);
  if (kind == "loss") return again<Loss>(c);
  if (kind == "metric") return again<Metric>(c);
  if (kind == "optimizer") return again<Optimizer>(c);
  if (kind == "schedule") return again<LearningRateSchedule>(c);
  throw std::runtime_error("unknown kind " + kind);
}

void objects(const char* path) {
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    try {
      const Config c = rw::format::parse_json(std::string_view(line).substr(tab + 1), "a line");
      std::puts(to_text(made_again(line.substr(0, tab), c)).c_str());
    } catch (const std::exception& e) {
      std::string text = e.what();
      for (char& ch : text)
        if (ch == '\n') ch = ' ';
      std::puts(("ERROR " + text).c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  try {
    if (what == "objects") objects(argv[2]);
    else if (what == "model") std::puts(models::model_from_json(text_of(argv[2])).to_json().c_str());
    else return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
