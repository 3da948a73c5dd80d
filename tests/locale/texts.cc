// Writes every kind of text that the library makes or reads, one after the other. run.sh compares what comes
// under the C locale with what comes under one that writes 1.234,5.
//   texts FOLDER [LOCALE]     the transcript goes to standard output, files to FOLDER
#include <sys/stat.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <sstream>

#include "rewind/data/file.h"
#include "rewind/data/text.h"
#include "rewind/graph/graph_def.h"
#include "rewind/keras/keras.h"
#include "rewind/module/saved_variables.h"
#include "rewind/report/memory_page.h"
#include "rewind/report/profiler.h"
#include "rewind/rewind.h"

using rw::Tensor;
namespace keras = rw::keras;

namespace {

std::string folder;

void show(const std::string& what, const std::string& text) {
  std::fputs(("== " + what + "\n" + text + "\n").c_str(), stdout);
}
void show(const std::string& what, const char* text) { show(what, std::string(text)); }
void show(const std::string& what, const Tensor& x) { show(what, x.to_string() + "\n" + x.repr()); }

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// For times, which differ: "12.5" becomes "#.#".
std::string without_digits(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' && out.ends_with(' ')) continue;
    if (c >= '0' && c <= '9') {
      if (!out.ends_with('#')) out += '#';
    } else {
      out += c;
    }
  }
  return out;
}

template <class F>
void show_error(F&& f) {
  try {
    f();
    show("error", "none");
  } catch (const std::exception& e) { show("error", e.what()); }
}

const std::vector<double> kNumbers{0.0, -0.5, 1.5, 1234567.25, 1e-7, 3.25e20, 0.1, 1 / 3.0, 65504, -1e300};

void show_op_rows() {
  std::string rows;
  for (const rw::Op* op : rw::op_table().all()) rows += op->schema() + "\n";
  show("op rows", rows);
  const rw::Attrs attrs{
      {"alpha", 0.25}, {"list", std::vector<double>{1.5, 2500.125}}, {"n", int64_t{1234567}}};
  std::string text;
  for (const auto& [name, value] : attrs) text += name + "=" + value.to_string() + " ";
  show("attributes", text);
  const Tensor x = rw::constant({-1.0f, 2.0f});
  show("LeakyRelu", rw::raw_op("LeakyRelu", {x})[0]);
  const Tensor image = rw::constant(std::vector<float>{1, 2, 3, 5}, {1, 2, 2, 1});
  const Tensor one = rw::constant({1.0f}), zero = rw::constant({0.0f});
  const auto norm = rw::raw_op("FusedBatchNormV3", {image, one, zero, zero, one}, {{"is_training", true}});
  show("FusedBatchNormV3", norm[0]);
}

void show_numbers() {
  for (const rw::DType d : {rw::float16, rw::bfloat16, rw::float32, rw::float64}) {
    for (const double x : kNumbers) show("scalar", rw::cast(rw::constant(x), d));
    show("list", rw::cast(rw::constant(kNumbers), d));
  }
  const std::vector<double> pairs{1234567.5, -0.25, 1e-9, 1e20};
  show("complex", rw::tensor_from_bytes(pairs.data(), rw::DType::kComplex128, {2}));
  show("complex", rw::tensor_from_bytes(pairs.data(), rw::DType::kComplex128, {}));
  show("integers", rw::constant(std::vector<int64_t>{1234567, -9876543210}));
  show("range", rw::range(1000, 100000, 1000));
  show("variable", rw::Variable(rw::constant({1234.5, 0.001})).repr());
  std::ostringstream out;  // with the global locale
  out << rw::constant({1234.5, 0.001}) << rw::constant(1234567) << rw::Variable(rw::constant(1e6));
  show("stream", out.str());
  const Tensor list = rw::constant(kNumbers);
  for (const bool scientific : {false, true})
    for (const bool shortest : {false, true})
      for (const char* fill : {"", "0", "+", "-", " "})
        if (!(scientific && shortest))
          show("as_string", rw::strings::as_string(list, {.precision = 3,
                                                          .scientific = scientific,
                                                          .shortest = shortest,
                                                          .width = 20,
                                                          .fill = fill}));
  show("as_string", rw::strings::as_string(rw::constant({1234567, -5}), {.width = 12, .fill = "0"}));
  show("format", rw::strings::format("{} and {}", {list, rw::constant(1234567)}));
  for (const rw::DType d : {rw::float32, rw::float64})
    for (const char* text : {"1.5", " -2500.125e-3 ", "inf", "0x1.8p1"})
      show("to_number", rw::strings::to_number(rw::constant(text), d));
  show("to_number", rw::strings::to_number(rw::constant("1234567"), rw::int64));
  show_error([] { rw::strings::to_number(rw::constant("1,5")); });
  show_error([] { rw::strings::to_number(rw::constant("1.234.567"), rw::int64); });
  show("case", rw::strings::upper(rw::constant("grün \xe4 i")));
  show("case", rw::strings::lower(rw::constant("GRÜN \xc4 I")));
  rw::print(rw::PrintOptions{.output_stream = "file://" + folder + "/printed"}, "values", list, 1234567, 0.5);
  show("print", file_text(folder + "/printed"));
}

void show_graphs() {
  auto f = rw::function([](const Tensor& x) {
    const Tensor scaled = rw::nn::leaky_relu(x * 0.3f + 1234.5f, 0.125);
    return rw::reduce_sum(rw::nn::softmax(scaled * rw::constant({0.1f, 1e-7f, 2500.0f})));
  });
  const Tensor x = rw::constant({0.5f, -1.5f, 2.5f});
  show("traced", f(x));
  const rw::FunctionGraph graph = f.get_concrete_function(x)->graph();
  show("graph", graph.to_string());
  show("dot", graph.as_dot());
  const std::string text = graph.as_graph_def();
  show("GraphDef", text);
  const auto def = rw::format::from_text<rw::format::GraphDef>(text);
  show("read back", rw::format::to_text(def) == text ? "the same" : "different");
  show_error([] { rw::format::from_text<rw::format::GraphDef>("node { attr { value { f: 1,5 } } }"); });
  std::vector<std::string> dumps;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/dump"))
    if (entry.is_regular_file() && entry.path().filename() != "timings.txt") dumps.push_back(entry.path());
  std::sort(dumps.begin(), dumps.end());
  for (const std::string& path : dumps) show(path.substr(folder.size()), file_text(path));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/dump"))
    if (entry.path().filename() == "timings.txt") show("timings", without_digits(file_text(entry.path())));
}

void show_reports() {
  const auto work = [] { return rw::matmul(rw::ones({200, 200}), rw::ones({200, 200})); };
  rw::profiler::start();
  for (int i = 0; i < 3; ++i) work();
  rw::profiler::stop(folder + "/trace.json");
  show("Chrome trace", without_digits(file_text(folder + "/trace.json")));
  rw::profiler::start();
  work();
  show("profile", without_digits(rw::profiler::stop_as_table()));
  rw::Variable w(rw::ones({100, 100}));
  auto step = rw::function([&](const Tensor& x) {
    rw::GradientTape tape;
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = rw::tanh(rw::matmul(y, w));
    return tape.gradient(rw::reduce_sum(y), w).tensor();
  });
  const rw::MemoryReport plan = step.memory_plan(rw::ones({100, 100}));
  show("memory plan", plan.to_string());
  show("memory page", rw::memory::report_page(plan));
}

void show_training() {
  rw::random::set_seed(1);
  auto model =
      keras::Sequential({keras::Input({200}), keras::Dense(1000, {.activation = "relu"}), keras::Dense(3)});
  model.compile({.optimizer = keras::Adam({.learning_rate = 0.002}), .loss = keras::MeanSquaredError()});
  show("summary", model.summary_text({.line_length = 80}));
  std::ostringstream out;
  double now = 0;
  keras::ProgressBar bar({.output = &out,
                          .terminal = true,
                          .clock = [&] { return now += 1234.5678; },
                          .columns = [] { return 0; }});
  bar.set_params({.verbose = 1, .epochs = 12345, .steps = 2345});
  keras::Logs logs{{"accuracy", 0.5}, {"loss", 12345.678}, {"small", 1e-5}};
  bar.on_train_begin(logs);
  bar.on_epoch_begin(1233, logs);
  for (const int64_t batch : {0, 1200, 2344}) bar.on_train_batch_end(batch, logs);
  bar.on_epoch_end(1233, logs);
  show("progress bar", out.str());
  keras::CSVLogger csv(folder + "/log.csv");
  keras::History history;
  csv.on_train_begin(logs);
  history.on_train_begin(logs);
  for (const int64_t epoch : {0, 1, 1234567}) {
    csv.on_epoch_end(epoch, logs);
    history.on_epoch_end(epoch, logs);
  }
  csv.on_train_end(logs);
  show("CSVLogger", file_text(folder + "/log.csv"));
  show("plot", keras::plot_history_svg(history));
  model.save_weights(folder + "/net.safetensors");
  const std::string saved = file_text(folder + "/net.safetensors");
  show("safetensors", saved.substr(8, saved.find("}}") - 6));
  model.load_weights(folder + "/net.safetensors");
  const keras::LearningRateSchedule schedule = keras::schedules::ExponentialDecay({0.001, 1000, 0.96});
  show("learning rate", schedule(1234));
  show("learning rate", rw::cast(model.optimizer().learning_rate(), rw::float64));
  const Tensor x = rw::ones({4, 200}), y = rw::ones({4, 3});
  model.fit(x, y,
            {.batch_size = 2,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {keras::LearningRateScheduler([](int64_t) { return 0.00125; }, 1)}});
  model.summary({.line_length = 80});
}

struct Keyed : rw::Module {
  std::map<double, rw::Variable> by_rate{{0.5, rw::Variable(1.0)}, {1234567, rw::Variable(2.0)}};
  RW_TRACK(by_rate)
};

void show_modules() {
  const Keyed keyed;
  for (const rw::NamedVariable& v : rw::named_variables(keyed)) show("variable", v.name);
}

void show_data() {
  std::ofstream(folder + "/table.csv") << "1.5,-2500.125e3,1234567,text\n\" 0.25 \",1e400,-7,\"a,b\"\n";
  for (const auto& row :
       rw::data::csv_dataset({folder + "/table.csv"}, {rw::float32, rw::float64, rw::int64, ""}))
    for (const Tensor& x : row) show("csv", x);
}

void show_errors() {
  const auto x = [] { return rw::ones({2, 3}); };
  show_error([&] { rw::matmul(rw::ones({2000, 3000}), rw::ones({4000, 5000})); });
  show_error([&] { rw::nn::dropout(x(), 1.5); });
  show_error([&] { keras::Dropout(1234.5); });
  show_error([&] { rw::range(1.5, 0.25, 1234.5); });
  show_error([&] { rw::norm(x(), {.ord = -0.5}); });
  show_error([&] { rw::constant(1.5, rw::int32); });
  show_error([&] { keras::SGD({.momentum = 1.5}); });
  show_error([&] { rw::data::read_text(folder + "/no such file"); });
  show_error([&] { rw::VariablesFile(folder + "/no such file"); });
  show_error([&] { rw::op_table().add("X(x: float) -> (y: float); alpha: float = 0,5"); });
  show_error([&] { rw::op_table().add("X(x: float) -> (y: float); n: int = 1.5"); });
  show_error([&] { rw::debugging::Assert(rw::constant(false), {rw::constant(kNumbers)}); });
  show_error([&] { rw::debugging::assert_near(rw::constant(1.5), rw::constant(1234.25)); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  mkdir((folder + "/dump").c_str(), 0700);
  setenv("REWIND_DUMP", (folder + "/dump").c_str(), 1);
  if (argc > 2) {
    if (!std::setlocale(LC_ALL, argv[2])) return 3;
    std::locale::global(std::locale(argv[2]));
    std::cout.imbue(std::locale());
    char text[16];
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    std::ostringstream out;
    out << 1234567;
    if (std::string(text) != "0,5" || out.str() != "1.234.567") return 4;  // it would prove nothing
  }
  show_op_rows();
  show_numbers();
  show_graphs();
  show_reports();
  show_training();
  show_modules();
  show_data();
  show_errors();
  return 0;
}
