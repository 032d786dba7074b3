/// The graph of the waits between fetches that load other keys. Pure.
///
/// A cycle would never end, because each fetch in it waits for the next. The graph refuses a wait that would close a
/// cycle.
struct WaitGraph<Node: Hashable & Sendable>: Sendable {
  /// For each node, the nodes that it waits for, with the number of waits. A fetch may load several keys at once.
  private var awaited: [Node: [Node: Int]] = [:]

  /// Whether the graph contains no wait.
  var isEmpty: Bool { awaited.isEmpty }

  /// Adds a wait.
  ///
  /// - Returns: False if the wait would close a cycle. The graph then stays the same.
  /// - Complexity: O(*n*) for *n* waits that are reachable from `target`.
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
    guard let count = awaited[waiter]?[target] else { preconditionFailure("the graph does not contain the wait") }
    awaited[waiter]?[target] = count > 1 ? count - 1 : nil
    if awaited[waiter]?.isEmpty ?? false { awaited[waiter] = nil }
  }
}
