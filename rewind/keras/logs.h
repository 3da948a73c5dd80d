// What callbacks are told: names and numbers, in the order in which they came.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rw::keras {

class Logs {
 public:
  using Item = std::pair<std::string, double>;

  Logs() = default;
  Logs(std::initializer_list<Item> items) : items_(items) {}
  // Filled by the first who looks: a step whose numbers nobody reads does not compute them.
  explicit Logs(std::function<void(Logs&)> fill) : fill_(std::move(fill)) {}

  const std::vector<Item>& items() const {
    resolve();
    return items_;
  }
  std::optional<double> get(const std::string& name) const {
    for (const Item& item : items())
      if (item.first == name) return item.second;
    return {};
  }
  double operator[](const std::string& name) const;  // throws NotFoundError
  void set(const std::string& name, double value) {
    resolve();
    for (Item& item : items_)
      if (item.first == name) {
        item.second = value;
        return;
      }
    items_.emplace_back(name, value);
  }
  bool empty() const { return items().empty(); }
  std::string names() const {  // "loss, accuracy"
    std::string text;
    for (const Item& item : items()) text += (text.empty() ? "" : ", ") + item.first;
    return text;
  }

 private:
  void resolve() const {
    if (!fill_) return;
    const auto fill = std::exchange(fill_, nullptr);
    fill(const_cast<Logs&>(*this));
  }
  mutable std::function<void(Logs&)> fill_;
  std::vector<Item> items_;
};

}  // namespace rw::keras
