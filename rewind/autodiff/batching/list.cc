// A batch of lists is a vector of handles: every op runs once per list.
#include "rewind/autodiff/batching.h"

namespace rw {

void register_list_batching() {
  for (const char* op :
       {"EmptyTensorList",       "TensorListReserve",      "TensorListPushBack",
        "TensorListPopBack",     "TensorListGetItem",      "TensorListSetItem",
        "TensorListLength",      "TensorListElementShape", "TensorListResize",
        "TensorListStack",       "TensorListFromTensor",   "TensorListGather",
        "TensorListScatter",     "TensorListScatterV2",    "TensorListScatterIntoExistingList",
        "TensorListConcat",      "TensorListConcatV2",     "TensorListSplit",
        "TensorListConcatLists", "OptionalFromValue",      "OptionalNone",
        "OptionalHasValue",      "OptionalGetValue"})
    register_batching(op, batch_by_loop);
}

}  // namespace rw
