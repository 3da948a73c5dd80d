#include "rewind/saved/op_check.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "rewind/base/error.h"
#include "rewind/op/compiler_rows.h"
#include "rewind/op/table.h"

namespace rw::saved_model {
namespace {

// TensorFlow's ops that read or write files, reach other machines or processes, or run the host's code. Rows
// of these names may be in the table because a program put them there.
constexpr std::string_view kReachOut[] = {
    // files
    "ReadFile", "WriteFile", "MatchingFiles", "Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2",
    "RestoreSlice", "MergeV2Checkpoints", "ImmutableConst", "TextLineReader", "TextLineReaderV2",
    "FixedLengthRecordReader", "FixedLengthRecordReaderV2", "TFRecordReader", "TFRecordReaderV2",
    "WholeFileReader", "WholeFileReaderV2", "LMDBReader", "TextLineDataset", "TFRecordDataset",
    "TFRecordDatasetV2", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "SqlDataset",
    "ExperimentalSqlDataset", "CSVDataset", "CSVDatasetV2", "ExperimentalCSVDataset", "LMDBDataset",
    "ExperimentalLMDBDataset", "SaveDataset", "SaveDatasetV2", "LoadDataset", "SnapshotDataset",
    "SnapshotDatasetV2", "SnapshotDatasetReader", "SnapshotNestedDatasetReader", "CacheDataset",
    "CacheDatasetV2", "DatasetToTFRecord", "ExperimentalDatasetToTFRecord", "MatchingFilesDataset",
    "AssertCardinalityDataset", "FileSystemSetConfiguration", "CreateSummaryFileWriter",
    "CreateSummaryDbWriter", "ImportEvent", "FlushSummaryWriter", "SnapshotChunkDataset",
    "ListSnapshotChunksDataset", "ExperimentalMatchingFilesDataset", "RecordInput", "DistributedSave",
    "DumpTensor", "CalibrationStatisticsSaver", "LoadAndRemapMatrix", "GenerateVocabRemapping",
    "FixedUnigramCandidateSampler", "Skipgram",
    // sockets and other processes
    "RpcServer", "RpcClient", "RpcCall", "RpcCheckStatus", "RpcGetValue", "RpcServerStart",
    "RpcServerRegister", "Send", "Recv", "_Send", "_Recv", "_HostSend", "_HostRecv", "RemoteCall",
    "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "DebugNumericSummary", "DataServiceDataset",
    "DataServiceDatasetV2", "DataServiceDatasetV3", "DataServiceDatasetV4", "RegisterDataset",
    "RegisterDatasetV2", "CollectiveBcastSend", "CollectiveBcastRecv", "CollectiveReduce", "CollectiveGather",
    "CollectiveBcastSendV2", "CollectiveBcastRecvV2", "CollectiveReduceV2", "CollectiveReduceV3",
    "CollectiveGatherV2", "CollectiveReduceScatterV2", "CollectiveAllToAllV2", "CollectiveAllToAllV3",
    "DebugNanCount", "DebugNumericSummaryV2",
    // the host's code
    "PyFunc", "PyFuncStateless", "EagerPyFunc", "GeneratorDataset", "KafkaDataset", "BigtableClient",
    "XlaCustomCall", "XlaCustomCallV2", "XlaHostCompute", "_XlaHostComputeMlir", "Abort"};

bool reaches_out(std::string_view op) {
  static const auto& names =
      *new std::unordered_set<std::string_view>(std::begin(kReachOut), std::end(kReachOut));
  return names.contains(op);
}

// PrintV2 writes to the console or to a file.
std::string printed_to_file(const format::NodeDef& node) {
  if (node.op != "PrintV2") return {};
  const auto it = node.attr.find("output_stream");
  const std::string* to = it == node.attr.end() ? nullptr : std::get_if<std::string>(&it->second.value);
  return to && to->starts_with("file") ? *to : "";
}

constexpr std::string_view kSwitchMerge[] = {
    "Switch",    "Merge",    "Enter",    "Exit",    "NextIteration",    "LoopCond", "ControlTrigger",
    "RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefSelect"};
constexpr std::string_view kReferences[] = {
    "Variable",  "VariableV2", "TemporaryVariable", "Assign",
    "AssignAdd", "AssignSub",  "RefIdentity",       "IsVariableInitialized"};

bool is_among(std::string_view op, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace

std::string missing_op_text(const std::string& op) {
  if (is_among(op, kSwitchMerge))
    return op +
           " is of TensorFlow 1's loops and branches, which are not supported (a model exported after "
           "tf.compat.v1.enable_control_flow_v2() has While and If)";
  if (is_among(op, kReferences))
    return op +
           " is of TensorFlow 1's reference variables, which are not supported (a model exported after "
           "tf.compat.v1.enable_resource_variables() has none)";
  return "there is no op " + op;
}

OpCheck::OpCheck(const format::FunctionDefLibrary& library, std::vector<std::string> allowed_ops)
    : allowed_(allowed_ops.begin(), allowed_ops.end()) {
  for (const format::FunctionDef& f : library.function)
    if (f.signature && functions_.emplace(f.signature->name, list_.size()).second) list_.push_back(&f);
  own_.resize(list_.size());
}

void OpCheck::add_calls(const format::NodeDef& node, std::vector<size_t>* calls) const {
  const auto add = [&](const std::string& name) {
    if (const auto it = functions_.find(name); it != functions_.end()) calls->push_back(it->second);
  };
  add(node.op);
  for (const auto& [name, attr] : node.attr) {
    if (const auto* f = std::get_if<format::Box<format::NameAttrList>>(&attr.value)) add((*f)->name);
    if (const auto* list = std::get_if<format::Box<format::ListValue>>(&attr.value))
      for (const format::NameAttrList& f : (*list)->func) add(f.name);
  }
}

void OpCheck::look_at(const format::NodeDef& node, bool may_fill_tables, Problems* problems) const {
  const bool known = op_table().find(node.op);
  if (allowed_.contains(node.op)) {
    if (!known) problems->missing.insert(node.op);
    return;
  }
  // Tables are read from files by a path that the graph computes.
  const bool reads_file = known && node.op.starts_with("InitializeTableFromTextFile");
  if (reaches_out(node.op) || (reads_file && !may_fill_tables)) {
    problems->refused.insert(node.op);
  } else if (const std::string file = printed_to_file(node); !file.empty()) {
    problems->refused.insert("PrintV2 to " + file);
  } else if (!known && !functions_.contains(node.op)) {
    problems->missing.insert(node.op);
  }
}

const OpCheck::Own& OpCheck::own(size_t function) {
  if (own_[function]) return *own_[function];
  auto made = std::make_unique<Own>();
  for (const format::NodeDef& node : list_[function]->node_def) {
    look_at(node, false, &made->problems);
    add_calls(node, &made->calls);
  }
  std::sort(made->calls.begin(), made->calls.end());
  made->calls.erase(std::unique(made->calls.begin(), made->calls.end()), made->calls.end());
  own_[function] = std::move(made);
  return *own_[function];
}

// A chain of functions that lack an op each has a list that grows with the square of its length.
void OpCheck::add(const Problems& from, Problems* to) {
  constexpr size_t kMost = 1'000'000;
  listed_ += from.missing.size() + from.refused.size();
  if (listed_ > kMost)
    fail_exhausted("saved_model::load", "functions lack more than " + std::to_string(kMost) + " ops");
  to->missing.insert(from.missing.begin(), from.missing.end());
  to->refused.insert(from.refused.begin(), from.refused.end());
}

// Walks without recursion: hostile files nest calls as deep as they like.
void OpCheck::add_below(std::vector<size_t> open, Problems* problems) {
  std::vector<bool> seen(list_.size());
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Own& function = own(at);
    add(function.problems, problems);
    for (const size_t called : function.calls)
      if (!seen[called]) open.push_back(called);
  }
}

OpCheck::Problems OpCheck::of_nodes(const std::vector<const format::NodeDef*>& nodes, bool may_fill_tables) {
  Problems problems;
  std::vector<size_t> calls;
  for (const format::NodeDef* node : nodes) {
    look_at(*node, may_fill_tables, &problems);
    add_calls(*node, &calls);
  }
  add_below(std::move(calls), &problems);
  return problems;
}

const OpCheck::Problems& OpCheck::of(const std::string& function) {
  const auto [it, is_new] = of_function_.try_emplace(function);
  if (!is_new) return it->second;
  const auto f = functions_.find(function);
  if (f == functions_.end()) return it->second;
  if (fills_tables_.contains(function)) {
    std::vector<const format::NodeDef*> nodes;
    for (const format::NodeDef& node : list_[f->second]->node_def) nodes.push_back(&node);
    return it->second = of_nodes(nodes, true);
  }
  add_below({f->second}, &it->second);
  return it->second;
}

}  // namespace rw::saved_model
