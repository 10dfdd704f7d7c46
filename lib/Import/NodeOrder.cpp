//===- NodeOrder.cpp - order of a graph's nodes ---------------------------===//

#include "NodeOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace llvm;

namespace strata::importer {

using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

/// Calls `use` for every name that the node uses and does not define itself.
static void forEachUse(const proto::NodeProto &node, function_ref<void(StringRef)> use) {
  for (const std::string &input : node.input())
    if (!input.empty())
      use(input);
  auto visit = [&](const proto::GraphProto &graph) {
    StringSet<> own;
    for (const auto &input : graph.input())
      own.insert(input.name());
    for (const auto &initializer : graph.initializer())
      own.insert(initializer.name());
    for (const auto &initializer : graph.sparse_initializer())
      own.insert(initializer.values().name());
    for (const auto &inner : graph.node())
      for (const std::string &output : inner.output())
        own.insert(output);
    auto useOuter = [&](StringRef name) {
      if (!own.contains(name))
        use(name);
    };
    for (const auto &inner : graph.node())
      forEachUse(inner, useOuter);
    for (const auto &output : graph.output())
      useOuter(output.name());
  };
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const auto &graph : attribute.graphs())
      visit(graph);
  }
}

static std::string describe(const proto::NodeProto &node, int index) {
  return node.name().empty() ? "node " + std::to_string(index) + " (" + node.op_type() + ")" : "'" + node.name() + "'";
}

FailureOr<SmallVector<int>> orderNodes(const Nodes &nodes, function_ref<bool(StringRef)> isDefined,
                                       const Trace &trace) {
  StringMap<int> definedBy;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output())
      if (!output.empty() && !isDefined(output))
        definedBy.try_emplace(output, i);

  // Of each node, the nodes whose results it uses.
  std::vector<SmallVector<int, 4>> needs(nodes.size());
  bool sorted = true;
  for (auto [i, node] : llvm::enumerate(nodes))
    forEachUse(node, [&, i = static_cast<int>(i)](StringRef name) {
      auto found = definedBy.find(name);
      if (found == definedBy.end())
        return;
      needs[i].push_back(found->second);
      sorted &= found->second < i;
    });
  SmallVector<int> order;
  if (sorted) {
    order.resize(nodes.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // Depth-first without recursion: a path may be as long as the model.
  enum State : char { New, Open, Done };
  std::vector<State> states(nodes.size(), New);
  SmallVector<std::pair<int, size_t>> path;
  for (int root = 0; root < nodes.size(); ++root) {
    if (states[root] == New)
      path.push_back({root, 0});
    while (!path.empty()) {
      auto &[node, next] = path.back();
      states[node] = Open;
      if (next == needs[node].size()) {
        states[node] = Done;
        order.push_back(node);
        path.pop_back();
        continue;
      }
      int needed = needs[node][next++];
      if (states[needed] == New) {
        path.push_back({needed, 0});
      } else if (states[needed] == Open) {
        std::string cycle;
        bool inCycle = false;
        for (auto [member, position] : path) {
          inCycle |= member == needed;
          if (inCycle)
            cycle += describe(nodes[member], member) + " needs ";
        }
        return trace.error() << "the nodes form a cycle: " << cycle << describe(nodes[needed], needed), failure();
      }
    }
  }
  return order;
}

} // namespace strata::importer
