// Files: what they give, and what happens when they are missing or damaged.
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "rewind/base/number_text.h"
#include "rewind/data/idx.h"
#include "rewind/data/image.h"
#include "rewind/data/named.h"
#include "rewind/data/text.h"
#include "tests/data/elements.h"
#include "tests/support/expect_error.h"

namespace rw::data {
namespace {

namespace fs = std::filesystem;

std::string folder(const std::string& name) {
  const std::string path = testing::TempDir() + "rewind_readers_" + name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}
std::string write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}
std::string write_gz(const std::string& path, const std::string& bytes) {
  gzFile f = gzopen(path.c_str(), "wb");
  gzwrite(f, bytes.data(), unsigned(bytes.size()));
  gzclose(f);
  return path;
}
std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(char(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}
std::vector<std::string> strings(const DatasetOf<Tensor>& ds) {
  std::vector<std::string> all;
  for (const Tensor& t : ds) all.push_back(t.item<std::string>());
  return all;
}

TEST(Readers, Lines) {
  const std::string dir = folder("lines");
  const std::string a = write(dir + "/a.txt", "one\r\n\ntwo");
  const std::string b = write_gz(dir + "/b.gz", "three\n");
  EXPECT_EQ(strings(text_line_dataset({a, b})), (std::vector<std::string>{"one", "", "two", "three"}));
  EXPECT_EQ(strings(text_line_dataset(write(dir + "/empty", ""))), std::vector<std::string>{});
  auto missing = text_line_dataset(dir + "/none").iterator();
  expect_error<NotFoundError>([&] { missing.next(); }, "/none cannot be opened: No such file or directory");
  auto is_folder = text_line_dataset(dir).iterator();
  expect_error<NotFoundError>([&] { is_folder.next(); }, "it is a folder");
}

TEST(Readers, DamagedGzipIsRefused) {
  const std::string dir = folder("gz");
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string path = write_gz(dir + "/a.gz", text);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(read_text(path), text);
  for (const size_t keep : {whole.size() / 2, whole.size() - 3}) {
    write(path, whole.substr(0, keep));
    expect_error<DataLossError>([&] { read_text(path); }, "a.gz: the compressed data is damaged");
  }
  std::string bad = whole;
  bad[whole.size() / 2] = char(~bad[whole.size() / 2]);
  write(path, bad);
  expect_error<DataLossError>([&] { read_text(path); }, "at byte");
}

// A few hundred kilobytes that become half a gigabyte.
TEST(Readers, GzipBombsAreRefused) {
  const std::string dir = folder("bomb");
  const std::string zeros(size_t{8} << 20, '\0');
  const std::string path = write_gz(dir + "/a.gz", zeros);
  const format::ExpansionLimit strict{.always = 1 << 20, .ratio = 100};
  expect_error<DataLossError>([&] { read_text(path, strict); },
                              "a.gz: it unpacks to more than is allowed for a file of ");
  EXPECT_EQ(read_text(path).size(), zeros.size());
  EXPECT_EQ(read_text(path, {.always = 1 << 20, .ratio = 2000}).size(), zeros.size());
  // An IDX file says so at its front.
  std::string head("\0\0\x08\x01\0\x80\0\0", 8);
  const std::string idx = write_gz(dir + "/b.gz", head + zeros);
  expect_error<DataLossError>([&] { read_idx(idx, {}, strict); }, "b.gz: it unpacks to more than is allowed");
  EXPECT_EQ(read_idx(idx).shape(), Shape({8 << 20}));
  // A line has no end; the whole file is more than a line may have by default.
  gzFile f = gzopen((dir + "/c.gz").c_str(), "wb1");
  for (int i = 0; i < 33; ++i) gzwrite(f, zeros.data(), unsigned(zeros.size()));
  gzclose(f);
  expect_error<DataLossError>(
      [&] {
        for (const auto& line : text_line_dataset(dir + "/c.gz")) (void)line;
      },
      "c.gz: it unpacks to more than is allowed");
}

TEST(Readers, Csv) {
  const std::string dir = folder("csv");
  const std::string path =
      write(dir + "/a.csv", "age,name,weight\n31,\"Ann \"\"A\"\", B\",60.5\n,Bob,\n7,\"x\ny\",1e3\r\n");
  std::vector<std::string> got;
  for (auto [age, name, weight] :
       csv_dataset({path}, std::tuple{int64, "nobody", 2.5}, {.header = true, .na_value = "-"}).take(1))
    got.push_back(name.item<std::string>() + std::to_string(age.item<int64_t>()) +
                  number_text(weight.item<float>()));
  EXPECT_EQ(got, (std::vector<std::string>{"Ann \"A\", B3160.5"}));
  const auto all = csv_dataset({path}, std::vector<CsvColumn>{-1, "nobody", 2.5}, {.header = true});
  got.clear();
  for (const std::vector<Tensor>& r : all)
    got.push_back(std::to_string(r[0].item<int32_t>()) + r[1].item<std::string>());
  EXPECT_EQ(got, (std::vector<std::string>{"31Ann \"A\", B", "-1Bob", "7x\ny"}));
  std::vector<float> weights;
  for (auto [w] : csv_dataset({path}, std::tuple{2.5}, {.header = true, .select_cols = {2}}))
    weights.push_back(w.item<float>());
  EXPECT_EQ(weights, (std::vector<float>{60.5f, 2.5f, 1000}));
  EXPECT_EQ(all.element_spec()[1].to_string(), "TensorSpec(shape=(), dtype=string)");

  auto required = csv_dataset({path}, std::tuple{int64, "", 0.0}, {.header = true}).skip(1).iterator();
  expect_error<InvalidArgumentError>([&] { required.next(); }, "column 0: the field is required and empty");
  auto no_number = csv_dataset({path}, std::tuple{0, 0, 0.0}, {.header = true}).iterator();
  expect_error<InvalidArgumentError>([&] { no_number.next(); }, "is no int32");
  auto too_few = csv_dataset({path}, std::tuple{0, ""}, {.header = true}).iterator();
  expect_error<InvalidArgumentError>([&] { too_few.next(); }, "record at byte 16 has 3 fields, expected 2");
  auto open = csv_dataset({write(dir + "/b.csv", "1,\"abc")}, std::tuple{0, ""}).iterator();
  expect_error<DataLossError>([&] { open.next(); }, "quoted field that begins at byte 2 has no end");
  expect_error<InvalidArgumentError>([&] { csv_dataset({path}, std::tuple{true}); }, "columns must be");
}

TEST(Readers, Idx) {
  const std::string dir = folder("idx");
  const std::string head = from_hex(
      "00000c02"
      "00000002"
      "00000001");
  const std::string body = from_hex(
      "00000001"
      "fffffffe");
  const Tensor t = read_idx(write(dir + "/a", head + body));
  EXPECT_EQ(t.shape(), (Shape{2, 1}));
  EXPECT_EQ(t.to_vector<int32_t>(), (std::vector<int32_t>{1, -2}));
  EXPECT_EQ(read_idx(write_gz(dir + "/a.gz", head + body)).to_vector<int32_t>(),
            (std::vector<int32_t>{1, -2}));
  for (size_t n = 0; n < (head + body).size(); ++n)
    expect_error<DataLossError>([&] { read_idx(write(dir + "/b", (head + body).substr(0, n))); },
                                "ends too early");
  expect_error<DataLossError>([&] { read_idx(write(dir + "/b", head + body + "x")); },
                              "more than the header says");
  expect_error<DataLossError>([&] { read_idx(write(dir + "/b", "\x01" + head.substr(1) + body)); },
                              "b: this is no IDX file: wrong magic number at byte 0");
  expect_error<DataLossError>(
      [&] {
        read_idx(write(dir + "/b", from_hex("00000804"
                                            "ffffffff"
                                            "ffffffff"
                                            "ffffffff"
                                            "ffffffff")));
      },
      "impossible");
  // Promises 4 GiB, holds nothing: refused without asking for the memory.
  expect_error<DataLossError>(
      [&] {
        read_idx(write(dir + "/b", from_hex("00000801"
                                            "ffffffff")));
      },
      "b: it unpacks to more than is allowed for a file of 8 bytes at byte 8");
}

TEST(Readers, FashionMnist) {
  const ImageClasses d = load_fashion_mnist();
  EXPECT_EQ(d.train_images.shape(), (Shape{60000, 28, 28}));
  EXPECT_EQ(d.test_labels.shape(), (Shape{10000}));
  EXPECT_EQ(d.train_labels.dtype(), uint8);
  EXPECT_EQ(d.train_labels(0).item<uint8_t>(), 9);  // an ankle boot
  expect_error<NotFoundError>([] { load_fashion_mnist("/nowhere"); },
                              "Debian's package dataset-fashion-mnist");
}

TEST(Readers, Cifar10) {
  const std::string dir = folder("cifar");
  expect_error<NotFoundError>([&] { load_cifar10(dir); }, "data_batch_1.bin cannot be opened");
  std::string record(3073, '\0');
  record[0] = 7;
  record[1] = 11;             // red of the first pixel
  record[1 + 1024] = 22;      // green
  record[1 + 2048 + 1] = 33;  // blue of the second
  for (int i = 1; i <= 5; ++i) write(dir + "/data_batch_" + std::to_string(i) + ".bin", record + record);
  write(dir + "/test_batch.bin", record);
  const ImageClasses d = load_cifar10(dir);
  EXPECT_EQ(d.train_images.shape(), (Shape{10, 32, 32, 3}));
  EXPECT_EQ(d.test_labels.shape(), (Shape{1, 1}));
  EXPECT_EQ(d.test_labels(0, 0).item<uint8_t>(), 7);
  EXPECT_EQ(d.test_images(0, 0, Slice(0, 2)).to_vector<uint8_t>(),
            (std::vector<uint8_t>{11, 22, 0, 0, 0, 33}));
  write(dir + "/test_batch.bin", record.substr(0, 100));
  expect_error<DataLossError>([&] { load_cifar10(dir); },
                              "test_batch.bin: the file ends too early at byte 100");
  record[0] = 10;
  write(dir + "/test_batch.bin", record);
  expect_error<DataLossError>([&] { load_cifar10(dir); }, "label 10");
}

// 3x2 RGB: red, green, blue; white, gray, black.
std::string png_bytes() {
  return from_hex(
      "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001649444154789c63f8cfc0c000c1"
      "ffffff6f68680032014c4f077be6a5ef730000000049454e44ae426082");
}
// 8x8: red 200, green 20 times the row, blue 50.
std::string jpeg_bytes() {
  return from_hex(
      "ffd8ffe000104a46494600010101012c012c0000ffdb00430002010101010102010101020202020204030202020205040403"
      "04060506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affdb004301020202020202"
      "050303050a0706070a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
      "0a0a0a0a0a0a0a0affc00011080008000803012200021101031101ffc4001f00000105010101010101000000000000000001"
      "02030405060708090a0bffc400b5100002010303020403050504040000017d01020300041105122131410613516107227114"
      "328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a53545556"
      "5758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5"
      "b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffc4001f010003"
      "0101010101010101010000000000000102030405060708090a0bffc400b51100020102040403040705040400010277000102"
      "031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35"
      "363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495"
      "969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9ea"
      "f2f3f4f5f6f7f8f9faffda000c03010002110311003f00f29ff8628ffa83ff00e39451457f2c7fae19effcfcfebef3fb63fd"
      "7de26ff9fbf9ff0099ffd9");
}

TEST(Readers, Images) {
  const std::string png = png_bytes();
  const Tensor t = decode_image(png);
  EXPECT_EQ(t.shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(t(0).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 0, 0, 0, 255, 0, 0, 0, 255}));
  EXPECT_EQ(decode_image(png, 4).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(decode_image(png, 1)(1).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 128, 0}));
  const Tensor j = decode_image(jpeg_bytes());
  EXPECT_EQ(j.shape(), (Shape{8, 8, 3}));
  EXPECT_NEAR(j(0, 0, 0).item<uint8_t>(), 200, 8);
  EXPECT_EQ(decode_image(jpeg_bytes(), 1).shape(), (Shape{8, 8, 1}));
}

// What the header says is compared with the bytes before there is memory for it.
TEST(Readers, ImagesOfManyPixelsInFewBytes) {
  std::string png = png_bytes();
  const auto put = [&](std::string* bytes, size_t at, std::string_view number) {
    bytes->replace(at, number.size(), number);
  };
  put(&png, 16, std::string("\0\0\x3f\xff\0\0\x3f\xff", 8));  // 16383 x 16383 in IHDR
  const auto crc = uint32_t(crc32(0, reinterpret_cast<const unsigned char*>(png.data()) + 12, 17));
  for (int i = 0; i < 4; ++i) png[29 + size_t(i)] = char(crc >> (24 - 8 * i));
  expect_error<DataLossError>([&] { decode_image(png, 0, "a.png"); },
                              "a.png: the image is too large, or for so few bytes");
  std::string jpeg = jpeg_bytes();
  const size_t frame = jpeg.find(std::string("\xff\xc0", 2));
  ASSERT_NE(frame, std::string::npos);
  put(&jpeg, frame + 5, "\x3f\xff\x3f\xff");
  expect_error<DataLossError>([&] { decode_image(jpeg, 0, "a.jpg"); },
                              "a.jpg: the image is too large, or for so few bytes");
  EXPECT_EQ(decode_image(png_bytes(), 0, "a.png", {.always = 1 << 10}).shape().rank(), 3);
}

TEST(Readers, DamagedImagesAreRefused) {
  for (const std::string& whole : {png_bytes(), jpeg_bytes()}) {
    for (size_t n = 0; n < whole.size(); n += 1 + whole.size() / 60) {
      if (n + 2 >= whole.size()) continue;
      EXPECT_THROW(decode_image(whole.substr(0, n), 0, "a.img"), DataLossError) << n;
    }
    // Any byte may be wrong: refused, or an image.
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string bad = whole;
      bad[i] = char(~bad[i]);
      try {
        decode_image(bad);
      } catch (const DataLossError&) {}
    }
  }
  expect_error<DataLossError>([&] { decode_image(png_bytes().substr(0, 50), 0, "a.png"); },
                              "a.png: the file ends too early near byte");
  expect_error<DataLossError>([&] { decode_image("GIF89a"); }, "neither PNG nor JPEG");
}

TEST(Readers, ImageFolders) {
  const std::string dir = folder("images");
  for (const char* name : {"cats", "dogs"}) {
    fs::create_directories(dir + "/" + name);
    for (int i = 0; i < 3; ++i) write(dir + "/" + name + "/" + std::to_string(i) + ".png", png_bytes());
  }
  write(dir + "/dogs/notes.txt", "no image");
  const ImageFolder found =
      image_dataset_from_directory(dir, {.batch_size = 4, .image_size = {4, 6}, .shuffle = false});
  EXPECT_EQ(found.class_names, (std::vector<std::string>{"cats", "dogs"}));
  EXPECT_EQ(found.file_paths.size(), 6u);
  std::vector<int32_t> labels;
  for (auto [x, y] : found.dataset) {
    EXPECT_EQ(x.shape(), (Shape{x.dim(0), 4, 6, 3}));
    EXPECT_EQ(x.dtype(), float32);
    for (const int32_t l : y.to_vector<int32_t>()) labels.push_back(l);
  }
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 0, 0, 1, 1, 1}));
  for (auto [x, y] :
       image_dataset_from_directory(dir, {.label_mode = "categorical", .color_mode = "grayscale"}).dataset) {
    EXPECT_EQ(x.shape(), (Shape{6, 256, 256, 1}));
    EXPECT_EQ(y.shape(), (Shape{6, 2}));
  }
  const ImageFolderOptions split{.seed = 1, .validation_split = 0.34, .subset = "validation"};
  EXPECT_EQ(image_dataset_from_directory(dir, split).file_paths.size(), 2u);
  write(dir + "/cats/0.png", png_bytes().substr(0, 60));
  auto it = image_dataset_from_directory(dir, {.shuffle = false}).dataset.iterator();
  expect_error<DataLossError>([&] { it.next(); }, "cats/0.png");
  expect_error<NotFoundError>([&] { image_dataset_from_directory(dir + "/none"); }, "is no folder");
  expect_error<NotFoundError>([&] { image_dataset_from_directory(folder("no_images")); }, "no PNG or JPEG");
  expect_error<InvalidArgumentError>([&] { image_dataset_from_directory(dir, {.label_mode = "x"}); },
                                     "label_mode");
}

TEST(Readers, FileCache) {
  const std::string dir = folder("cache");
  const auto ds =
      Dataset::range(4).map([](Tensor x) { return std::tuple{x, as_string(x)}; }).cache(dir + "/c");
  const auto texts = [](const auto& d) {
    std::string all;
    for (const auto& e : d) all += text_of(e);
    return all;
  };
  const std::string first = texts(ds);
  EXPECT_TRUE(fs::exists(dir + "/c"));
  EXPECT_EQ(texts(ds), first);
  {
    auto it = Dataset::range(9).cache(dir + "/d").iterator();
    it.next();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), 1);  // nothing half is left
  std::ifstream in(dir + "/c", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (size_t n = 0; n < whole.size(); n += 7) {
    write(dir + "/c", whole.substr(0, n));
    EXPECT_THROW(texts(ds), DataLossError) << n;
  }
  auto nowhere = Dataset::range(3).cache(dir + "/no/such/c").iterator();
  expect_error<FailedPreconditionError>([&] { nowhere.next(); }, "cannot be written");
}

}  // namespace
}  // namespace rw::data
