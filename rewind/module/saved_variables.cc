#include "rewind/module/saved_variables.h"

#include <algorithm>
#include <set>

#include "rewind/base/error.h"
#include "rewind/device/device.h"
#include "rewind/format/array_file.h"
#include "rewind/runtime/storage.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/trace.h"

namespace rw {
namespace {

constexpr const char* kSave = "save_weights";
constexpr const char* kLoad = "load_weights";
constexpr size_t kListed = 8;  // names in a message

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kListed) text += ", and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

std::string type_text(const Shape& shape, DType dtype) {
  return shape.to_string() + " " + std::string(name_of(dtype));
}

// The elements go from the file to the memory that the variable then has.
Tensor read_tensor(const format::ArrayFile& file, const format::ArrayFile::Entry& entry) {
  Value value = Value::allocate(cpu_device(), entry.dtype, entry.shape);
  if (value.size > 0) file.read(entry, value.data);
  return make_tensor(std::move(value));
}

[[noreturn]] void fail_unfit(const std::string& path, const std::string& what, const LoadReport& report) {
  std::string text = path + " does not fit " + what;
  const char* join = ": ";
  auto add = [&](const char* kind, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += join + (kind + listed(names));
    join = "; ";
  };
  add("missing in the file: ", report.missing);
  add("not expected in the file: ", report.unexpected);
  add("of other shape or type: ", report.mismatched);
  fail_invalid(kLoad, text + ". skip_mismatch loads the rest");
}

}  // namespace

std::vector<NamedVariable> named_variables(const Module& module) {
  module.check_members_listed();
  std::vector<NamedVariable> list;
  std::set<const void*> seen;
  std::vector<std::pair<std::string, const Module*>> queue{{"", &module}};
  std::set<const Module*> visited{&module};
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [path, at] = queue[i];
    for (const TrackedChild& child : at->children()) {
      const std::string name = path.empty() ? child.path : path + "/" + child.path;
      if (child.variable.defined() && seen.insert(child.variable.id()).second)
        list.push_back({name, child.variable});
      if (child.module && visited.insert(child.module).second) queue.push_back({name, child.module});
    }
  }
  return list;
}

void save_variables(const std::string& path, const std::vector<NamedVariable>& variables,
                    const std::map<std::string, std::string>& metadata) {
  if (current_trace()) fail_precondition(kSave, "weights are saved outside of functions");
  std::vector<Tensor> values;  // snapshots: they share the variables' memory
  std::vector<format::SafetensorsArray> arrays;
  for (const NamedVariable& v : variables) {
    values.push_back(v.variable.value());
    const Tensor& t = values.back();
    if (!contains(kRealTypes | kComplexTypes | set_of(DType::kBool), t.dtype()))
      fail_invalid(
          kSave, v.name + " is " + std::string(name_of(t.dtype())) + ", which files of weights do not have");
    arrays.push_back({v.name, t.dtype(), t.shape(), t.host_data()});
  }
  format::write_array_file(path, arrays, metadata, kSave);
}

struct VariablesFile::State {
  State(const std::string& path, const format::ExpansionLimit& limit)
      : file(format::open_array_file(path, kLoad, limit)) {}
  std::unique_ptr<format::ArrayFile> file;
};

VariablesFile::VariablesFile(const std::string& path, const format::ExpansionLimit& limit)
    : state_(std::make_unique<State>(path, limit)) {}
VariablesFile::~VariablesFile() = default;
VariablesFile::VariablesFile(VariablesFile&&) noexcept = default;

std::vector<std::string> VariablesFile::names() const {
  std::vector<std::string> list;
  for (const auto& e : state_->file->entries()) list.push_back(e.name);
  return list;
}

const std::map<std::string, std::string>& VariablesFile::metadata() const { return state_->file->metadata(); }

Tensor VariablesFile::read(const std::string& array) const {
  const auto* entry = state_->file->find(array);
  return entry ? read_tensor(*state_->file, *entry) : Tensor();
}

LoadReport VariablesFile::load(const std::vector<Target>& targets, const std::string& what,
                               const LoadOptions& options, bool (*ignored)(const std::string&)) const {
  if (current_trace()) fail_precondition(kLoad, "weights are loaded outside of functions");
  const format::ArrayFile& file = *state_->file;
  LoadReport report;
  std::set<std::string_view> taken;
  std::vector<std::pair<const Variable*, const format::ArrayFile::Entry*>> fitting;
  for (const Target& t : targets) {
    const auto* entry = file.find(t.array);
    const Variable& v = t.variable.variable;
    if (!entry) {
      report.missing.push_back(t.variable.name);
      continue;
    }
    taken.insert(entry->name);
    if (entry->dtype != v.dtype() || !v.shape().compatible_with(entry->shape))
      report.mismatched.push_back(t.variable.name + " is " + type_text(v.shape(), v.dtype()) +
                                  ", in the file " + type_text(entry->shape, entry->dtype));
    else fitting.push_back({&v, entry});
  }
  for (const auto& e : file.entries())
    if (!taken.contains(e.name) && !(ignored && ignored(e.name))) report.unexpected.push_back(e.name);
  if (!report.fits() && !options.skip_mismatch) fail_unfit(file.path(), what, report);
  for (const auto& [variable, entry] : fitting) variable->assign(read_tensor(file, *entry));
  return report;
}

void save_weights(const Module& module, const std::string& path) {
  save_variables(path, named_variables(module));
}

LoadReport load_weights(const Module& module, const std::string& path, const LoadOptions& options) {
  const VariablesFile file(path);
  std::vector<VariablesFile::Target> targets;
  for (const NamedVariable& v : named_variables(module)) targets.push_back({v, v.name});
  return file.load(targets, "module \"" + module.name() + "\"", options);
}

}  // namespace rw
