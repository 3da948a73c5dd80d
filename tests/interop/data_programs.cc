// Pipelines whose elements check_data.py compares with tf.data's: data_programs FOLDER, which holds the files
// that the script wrote. One line a pipeline: its name, cardinality, specs, and its elements, separated by
// "|".
#include <cstdio>
#include <exception>

#include "rewind/data/byte_pair.h"
#include "rewind/data/image.h"
#include "rewind/data/text.h"
#include "rewind/rewind.h"

namespace {

using namespace rw;        // NOLINT: a program of its own
using namespace rw::data;  // NOLINT

void print_tensor(const Tensor& t) {
  printf("%s%s:", std::string(name_of(t.dtype())).c_str(), t.shape().to_string().c_str());
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.to_vector<std::string>()) {
      printf("'");
      for (const unsigned char c : s) printf("%02x", c);
    }
  } else {
    const Tensor wide = cast(t, DType::kFloat64);
    for (const double v : wide.to_vector<double>()) printf(" %.9g", v);
  }
  printf(";");
}

template <class D>
void show(const char* name, const D& ds, int passes = 1) {
  printf("%s|%lld|", name, static_cast<long long>(ds.cardinality()));
  for (const TensorSpec& s : ds.element_spec())
    printf("%s%s;", std::string(name_of(s.dtype)).c_str(), s.shape.to_string().c_str());
  for (int i = 0; i < passes; ++i) {
    for (const auto& e : ds) {
      printf("|");
      data::Element flat;
      Form<typename D::value_type>::write(e, &flat);
      for (const Tensor& t : flat) print_tensor(t);
    }
  }
  printf("\n");
}

void order() {
  const auto n = Dataset::range(10);
  const Tensor x = reshape(cast(rw::range(20), float32), {10, 2});
  const auto rows = Dataset::from_tensor_slices(std::tuple{x, rw::range(10)});
  show("range", Dataset::range(3, 20, 4));
  show("range_down", Dataset::range(5, -5, -3));
  show("from_tensors", Dataset::from_tensors(std::tuple{x, constant("a")}));
  show("slices", rows);
  show("take", rows.take(3));
  show("take_more", n.take(20));
  show("take_all", n.take(-1));
  show("skip", rows.skip(7));
  show("skip_more", n.skip(20));
  show("skip_all", n.skip(-1));
  show("repeat", n.take(3).repeat(3));
  show("repeat_none", n.repeat(0));
  show("shard", n.shard(3, 1));
  show("concatenate", n.take(2).concatenate(n.skip(8)));
  show("zip", Dataset::zip(n, rows.take(4)));
  show("enumerate", rows.take(3).enumerate(5));
}

void shuffles() {
  const auto n = Dataset::range(20);
  const auto rows = Dataset::from_tensor_slices(rw::range(20));
  show("shuffle", n.shuffle(5, {.seed = 11}), 3);
  show("shuffle_rows", rows.shuffle(5, {.seed = 11}), 3);
  show("shuffle_all", rows.shuffle(100, {.seed = 2}), 2);
  show("shuffle_one", n.shuffle(1, {.seed = 2}));
  show("shuffle_same", rows.shuffle(7, {.seed = 3, .reshuffle_each_iteration = false}), 2);
  show("shuffle_repeat", rows.shuffle(20, {.seed = 4}).repeat(3), 2);
  show("repeat_shuffle", rows.repeat(2).shuffle(9, {.seed = 4}));
  show("shuffle_twice", n.shuffle(4, {.seed = 4}).shuffle(6, {.seed = 5}), 2);
  show("shuffle_batch", rows.shuffle(20, {.seed = 6}).batch(6).repeat(2));
  set_global_seed(123);
  show("shuffle_global", n.shuffle(8), 2);
  show("shuffle_both", n.shuffle(8, {.seed = 9}), 2);
}

void batches() {
  const auto n = Dataset::range(7);
  show("batch", n.batch(3));
  show("batch_drop", n.batch(3, {.drop_remainder = true}));
  show("batch_batch", n.take(6).batch(2).batch(2, {.drop_remainder = true}));
  show("unbatch", n.batch(3).unbatch());
  show("unbatch_known", n.batch(3, {.drop_remainder = true}).unbatch());
  // The script knows these shapes as unknown lists.
  const auto typed = Dataset::from_generator(
      [k = int64_t{0}]() mutable { return ++k < 6 ? std::optional(fill({k}, constant(k))) : std::nullopt; },
      std::vector<TensorSpec>{{.shape = Shape{-1}, .dtype = int64}});
  show("generator", typed);
  show("padded", typed.padded_batch(2));
  show("padded_values",
       typed.padded_batch(
           2, {.padded_shapes = {{6}}, .padding_values = {constant(int64_t{-1})}, .drop_remainder = true}));
  const auto join = [](DatasetOf<Tensor> w) { return w.batch(3); };
  show("window", n.window(3).flat_map(join));
  show("window_shift", n.window(3, {.shift = 1}).flat_map(join));
  show("window_gap", n.window(2, {.shift = 3}).flat_map(join));
  show("window_stride", n.window(3, {.shift = 1, .stride = 2, .drop_remainder = true}).flat_map(join));
  const auto pairs = Dataset::zip(n, n.map([](Tensor x) { return x * x; }));
  show("window_pairs",
       pairs.window(2, {.drop_remainder = true}).flat_map([](DatasetOf<Tensor> a, DatasetOf<Tensor> b) {
         return Dataset::zip(a.batch(2), b.batch(2));
       }));
}

void functions() {
  const auto n = Dataset::range(8);
  const auto square = [](Tensor x) { return std::tuple{x, x * x}; };
  show("map", n.map(square));
  show("map_parallel", n.map(square, {.num_parallel_calls = 3}));
  show("filter", n.filter([](Tensor x) { return math::floormod(x, 3) == 1; }));
  const auto some = [](Tensor x) { return Dataset::range(4).map([x](Tensor y) { return x * 10 + y; }); };
  show("flat_map", n.flat_map(some));
  show("interleave", n.interleave(some, {.cycle_length = 3}));
  show("interleave_blocks", n.interleave(some, {.cycle_length = 3, .block_length = 3}));
  show("interleave_wide", n.interleave(some, {.cycle_length = 20, .block_length = 2}));
  show("cache_shuffle", n.cache().shuffle(4, {.seed = 1}), 2);
  show("shuffle_cache", n.shuffle(4, {.seed = 1}).cache(), 2);
  show("prefetch", n.prefetch(2));
  show("reduce", Dataset::from_tensors(
                     n.reduce(std::tuple{constant(int64_t{0}), constant(int64_t{1})},
                              [](Tensor s, Tensor p, Tensor x) { return std::tuple{s + x, p * (x + 1)}; })));
}

void files(const std::string& folder) {
  show("lines", text_line_dataset({folder + "/a.txt", folder + "/b.txt.gz"}));
  const std::tuple columns{0, 1.5, "none", int64};
  show("csv", csv_dataset({folder + "/a.csv"}, columns, {.header = true}));
  show("csv_picked", csv_dataset({folder + "/a.csv"}, std::tuple{1.5, "none"},
                                 {.header = true, .na_value = "x", .select_cols = {1, 2}}));
  for (const char* name : {"rgb.png", "gray.png", "rgba.png", "rgb16.png", "rgb.jpg", "gray.jpg"})
    for (const int channels : {0, 1, 3})
      show((std::string(name) + std::to_string(channels)).c_str(),
           Dataset::from_tensors(read_image(folder + "/" + name, channels)));
  const auto found = image_dataset_from_directory(folder + "/images",
                                                  {.batch_size = 3, .image_size = {5, 7}, .shuffle = false});
  show("image_folder", found.dataset);
  const BytePairTokenizer tokenizer(folder + "/vocab.json", folder + "/merges.txt");
  for (const Tensor& line : text_line_dataset(folder + "/corpus.txt")) {
    printf("tokens|0|");
    for (const int32_t t : tokenizer.encode(line.item<std::string>())) printf(" %d", t);
    printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    order();
    shuffles();
    batches();
    functions();
    files(argv[1]);
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
