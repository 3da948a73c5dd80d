#include "rewind/saved/save_model.h"

#include <random>

#include "rewind/base/error.h"
#include "rewind/format/atomic_file.h"
#include "rewind/format/fingerprint64.h"
#include "rewind/format/read_file.h"
#include "rewind/saved/atomic_folder.h"
#include "rewind/saved/loaded_model.h"
#include "rewind/saved/saved_model_writer.h"
#include "rewind/saved/snapshot.h"

namespace rw::saved_model {
namespace {

void write_file(const std::string& path, const std::string& bytes) {
  format::AtomicFile file(path, saved::kSaveModel);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

template <class Map, class Encode>
uint64_t hash_of_map(const Map& map, Encode encode) {
  std::string bytes;
  for (const auto& [key, value] : map) bytes += key + encode(value);
  return format::fingerprint64(bytes);
}

// Who wants to know whether two models are the same compares these; nobody checks them.
format::FingerprintDef fingerprint(const format::SavedModel& model, const std::string& bytes,
                                   const std::string& index) {
  const format::MetaGraphDef& meta = model.meta_graphs[0];
  format::FingerprintDef out;
  out.saved_model_checksum = format::fingerprint64(bytes);
  out.graph_def_program_hash = format::fingerprint64(format::encode(*meta.graph_def));
  out.signature_def_hash =
      hash_of_map(meta.signature_def, [](const format::SignatureDef& s) { return format::encode(s); });
  out.saved_object_graph_hash = format::fingerprint64(format::encode(*meta.object_graph_def));
  out.checkpoint_hash = format::fingerprint64(index);
  out.version = format::VersionDef{.producer = 4};
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += std::to_string(1000000000U + random() % 1000000000U).substr(1);
  out.uuid = "1" + digits;
  return out;
}

}  // namespace

ConcreteFunction Signature::only_trace(const Trackable& function) {
  const auto& f = static_cast<const FunctionTrackable&>(function);
  const std::vector<ConcreteFunction> traces = f.traces();
  if (traces.size() != 1)
    fail_invalid(saved::kSaveModel, "function " + f.options().name + " has " + std::to_string(traces.size()) +
                                        " traces: a signature is one; use get_concrete_function()");
  return traces[0];
}

void save(const TrackablePtr& root, const std::string& directory, const SaveOptions& options) {
  std::map<std::string, ConcreteFunction> signatures;
  for (const auto& [key, s] : options.signatures) signatures.emplace(key, s.function());
  const saved::SavedModelWriter writer(root, signatures);
  saved::Snapshot snapshot = saved::take_snapshot(writer.objects(), saved::kSaveModel);
  snapshot.values.back().value = constant(format::encode(writer.checkpoint_graph()));
  const std::string bytes = format::encode(writer.model());

  saved::AtomicFolder folder(
      directory,
      {"saved_model.pb", "saved_model.pbtxt", "fingerprint.pb", "variables", "assets", "keras_metadata.pb"},
      saved::kSaveModel);
  folder.make_folder("variables");
  folder.make_folder("assets");
  saved::write_snapshot(folder.path() + "/variables/variables", snapshot, saved::kSaveModel, {});
  write_file(folder.path() + "/saved_model.pb", bytes);
  const format::ReadFile index_file(folder.path() + "/variables/variables.index", saved::kSaveModel);
  const std::string index = index_file.read(0, size_t(index_file.size()));
  write_file(folder.path() + "/fingerprint.pb", format::encode(fingerprint(writer.model(), bytes, index)));
  folder.commit();
}

void save(const Module& module, const std::string& directory, const SaveOptions& options) {
  SaveOptions with_own = options;
  if (const auto* loaded = dynamic_cast<const LoadedModel*>(&module);
      loaded && loaded->is_root() && options.signatures.empty())
    for (const auto& [key, f] : loaded->signatures()) with_own.signatures.emplace(key, f);
  save(module.trackable(), directory, with_own);
}

}  // namespace rw::saved_model
