// Names of the numbers of the enums in saved_model.h and structured_value.h.
#include "rewind/format/saved_model.h"

namespace rw::format {
namespace {

template <class E>
struct Named {
  E value;
  std::string_view name;
};

constexpr Named<TypeSpecClass> kTypeSpecClasses[] = {{TypeSpecClass::kUnknown, "UNKNOWN"},
                                                     {TypeSpecClass::kSparseTensor, "SPARSE_TENSOR_SPEC"},
                                                     {TypeSpecClass::kIndexedSlices, "INDEXED_SLICES_SPEC"},
                                                     {TypeSpecClass::kRaggedTensor, "RAGGED_TENSOR_SPEC"},
                                                     {TypeSpecClass::kTensorArray, "TENSOR_ARRAY_SPEC"},
                                                     {TypeSpecClass::kDataset, "DATA_DATASET_SPEC"},
                                                     {TypeSpecClass::kIterator, "DATA_ITERATOR_SPEC"},
                                                     {TypeSpecClass::kOptional, "OPTIONAL_SPEC"},
                                                     {TypeSpecClass::kPerReplica, "PER_REPLICA_SPEC"},
                                                     {TypeSpecClass::kVariable, "VARIABLE_SPEC"},
                                                     {TypeSpecClass::kRowPartition, "ROW_PARTITION_SPEC"},
                                                     {TypeSpecClass::kRegistered, "REGISTERED_TYPE_SPEC"},
                                                     {TypeSpecClass::kExtension, "EXTENSION_TYPE_SPEC"}};
constexpr Named<SaverDef::Version> kSaverVersions[] = {
    {SaverDef::Version::kLegacy, "LEGACY"}, {SaverDef::Version::kV1, "V1"}, {SaverDef::Version::kV2, "V2"}};
constexpr Named<FunctionSpec::JitCompile> kJitCompile[] = {{FunctionSpec::JitCompile::kDefault, "DEFAULT"},
                                                           {FunctionSpec::JitCompile::kOn, "ON"},
                                                           {FunctionSpec::JitCompile::kOff, "OFF"}};
constexpr Named<VariableSynchronization> kSynchronizations[] = {
    {VariableSynchronization::kAuto, "VARIABLE_SYNCHRONIZATION_AUTO"},
    {VariableSynchronization::kNone, "VARIABLE_SYNCHRONIZATION_NONE"},
    {VariableSynchronization::kOnWrite, "VARIABLE_SYNCHRONIZATION_ON_WRITE"},
    {VariableSynchronization::kOnRead, "VARIABLE_SYNCHRONIZATION_ON_READ"}};
constexpr Named<VariableAggregation> kAggregations[] = {
    {VariableAggregation::kNone, "VARIABLE_AGGREGATION_NONE"},
    {VariableAggregation::kSum, "VARIABLE_AGGREGATION_SUM"},
    {VariableAggregation::kMean, "VARIABLE_AGGREGATION_MEAN"},
    {VariableAggregation::kOnlyFirstReplica, "VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA"}};

template <class E, size_t N>
std::string_view find_name(const Named<E> (&table)[N], E value) {
  for (const Named<E>& row : table)
    if (row.value == value) return row.name;
  return {};
}

template <class E, size_t N>
bool find_value(const Named<E> (&table)[N], std::string_view name, E* value) {
  for (const Named<E>& row : table) {
    if (row.name != name) continue;
    *value = row.value;
    return true;
  }
  return false;
}

}  // namespace

#define RW_NAMES(E, table)                                              \
  std::string_view name_of(E value) { return find_name(table, value); } \
  bool parse_enum(std::string_view name, E* value) { return find_value(table, name, value); }
RW_NAMES(TypeSpecClass, kTypeSpecClasses)
RW_NAMES(SaverDef::Version, kSaverVersions)
RW_NAMES(FunctionSpec::JitCompile, kJitCompile)
RW_NAMES(VariableSynchronization, kSynchronizations)
RW_NAMES(VariableAggregation, kAggregations)
#undef RW_NAMES

}  // namespace rw::format
