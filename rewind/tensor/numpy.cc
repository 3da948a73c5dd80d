#include "rewind/tensor/numpy.h"

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/npy.h"
#include "rewind/format/zip.h"
#include "rewind/tensor/tensor_impl.h"

namespace rw::numpy {
namespace {

Tensor read_array(const format::ByteSource& bytes) {
  const format::NpyHeader header = format::read_npy_header(bytes);
  if (header.dtype == DType::kString)
    return tensor_from_strings(format::read_npy_strings(bytes, header), header.shape);
  Value value = Value::allocate(cpu_device(), header.dtype, header.shape);
  if (value.size > 0) format::read_npy(bytes, header, value.data);
  return make_tensor(std::move(value));
}

// An array as a file's bytes: what stands in front, and the elements where they lie.
struct Encoded {
  std::string front;
  std::string_view elements;
};

Encoded encoded(const Tensor& array, const std::string& name, const char* tag) {
  if (!array.defined()) fail_invalid(tag, name + " is an undefined tensor");
  if (array.dtype() == DType::kString)
    return {format::npy_strings(array.to_vector<std::string>(), array.shape(), tag), {}};
  std::string front = format::npy_header(array.dtype(), array.shape());
  if (front.empty())
    fail_invalid(tag, name + " is " + std::string(name_of(array.dtype())) + ", which numpy does not have");
  return {std::move(front),
          {static_cast<const char*>(array.host_data()), size_t(array.size()) * size_of(array.dtype())}};
}

void write_npz(const std::string& path, const std::map<std::string, Tensor>& arrays, bool deflated,
               const char* tag) {
  format::ZipWriter zip(path, tag);
  for (const auto& [name, array] : arrays) {
    const Encoded e = encoded(array, "\"" + name + "\"", tag);
    const std::string_view parts[] = {e.front, e.elements};
    zip.add(name + ".npy", parts, deflated);
  }
  zip.commit();
}

}  // namespace

Tensor load(const std::string& path) { return read_array(*format::open_bytes(path, "numpy.load")); }

std::map<std::string, Tensor> load_npz(const std::string& path, const format::ExpansionLimit& limit) {
  const format::ZipFile zip(path, "numpy.load_npz", limit);
  std::map<std::string, Tensor> arrays;
  for (const auto& entry : zip.entries())
    if (entry.name.ends_with(".npy"))
      arrays[entry.name.substr(0, entry.name.size() - 4)] = read_array(*zip.open(entry));
  return arrays;
}

void save(const std::string& path, const Tensor& array) {
  constexpr const char* kTag = "numpy.save";
  const Encoded e = encoded(array, "the array", kTag);
  format::AtomicFile file(path, kTag);
  file.write(e.front.data(), e.front.size());
  file.write(e.elements.data(), e.elements.size());
  file.commit();
}

void savez(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  write_npz(path, arrays, false, "numpy.savez");
}
void savez_compressed(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  write_npz(path, arrays, true, "numpy.savez_compressed");
}

}  // namespace rw::numpy
