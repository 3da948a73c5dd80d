#include "rewind/module/lookup_trackable.h"

#include "rewind/op/object.h"
#include "rewind/tensor/apply.h"

namespace rw::lookup {
namespace {

class TableView final : public Trackable {
 public:
  TableView(const Table& table, bool changes) : table_(table), changes_(changes) {}
  ObjectId id() const override {
    const Ref<Object>& object = *static_cast<const Ref<Object>*>(table_.handle().host_data());
    return {"lookup table", uint64_t(reinterpret_cast<uintptr_t>(object.get()))};
  }
  std::vector<TrackableValue> values() const override {
    if (!changes_) return {};
    // Both are of one moment when they are saved; restored, they come in any order.
    const auto saved = std::make_shared<std::pair<Tensor, Tensor>>();
    const auto restored = std::make_shared<std::pair<Tensor, Tensor>>();
    const auto import_both = [restored, table = table_] {
      if (restored->first.defined() && restored->second.defined())
        rw::apply(RW_OP("LookupTableImportV2"), {&table.handle(), &restored->first, &restored->second});
    };
    TrackableValue first{.name = "table-keys"}, second{.name = "table-values"};
    first.save = [saved, table = table_] {
      *saved = table.export_();
      return saved->first;
    };
    second.save = [saved, table = table_] {
      return saved->second.defined() ? saved->second : table.export_().second;
    };
    first.restore = [restored, import_both](const Tensor& value) {
      restored->first = value;
      import_both();
    };
    second.restore = [restored, import_both](const Tensor& value) {
      restored->second = value;
      import_both();
    };
    return {first, second};
  }
  std::string describe() const override { return "lookup table"; }

 private:
  Table table_;
  bool changes_;
};

}  // namespace

TrackablePtr trackable_of(const MutableHashTable& table) { return std::make_shared<TableView>(table, true); }
TrackablePtr trackable_of(const StaticHashTable& table) { return std::make_shared<TableView>(table, false); }

}  // namespace rw::lookup
