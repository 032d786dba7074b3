/// Which fetches wait for which flights, because they load something themselves. Pure.
///
/// A cycle would never end: each fetch in it waits for the next. The graph refuses the wait that would close one.
struct WaitGraph<Node: Hashable & Sendable>: Sendable {
  /// For each node the nodes that it waits for, and how often: a fetch may load several keys at once.
  private var awaited: [Node: [Node: Int]] = [:]

  /// Whether nothing waits.
  var isEmpty: Bool { awaited.isEmpty }

  /// Adds a wait; false, and nothing is added, if it would close a cycle. O(n) for n waits that follow from it.
  mutating func add(_ waiter: Node, waitsFor target: Node) -> Bool {
    var reached: Set<Node> = [target]
    var unexplored = [target]
    while let node = unexplored.popLast() {
      guard node != waiter else { return false }
      guard let next = awaited[node] else { continue }
      for node in next.keys where reached.insert(node).inserted { unexplored.append(node) }
    }
    awaited[waiter, default: [:]][target, default: 0] += 1
    return true
  }

  /// Removes a wait that was added.
  mutating func remove(_ waiter: Node, waitsFor target: Node) {
    guard let count = awaited[waiter]?[target] else { preconditionFailure("a wait ends once") }
    awaited[waiter]?[target] = count > 1 ? count - 1 : nil
    if awaited[waiter]?.isEmpty ?? false { awaited[waiter] = nil }
  }
}
