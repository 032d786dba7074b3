/// A doubly linked queue of nodes. The links are in the nodes, so no operation allocates, and each one takes O(1).
/// The queue maintains its own cost.
package struct NodeList {
  /// The queue that the nodes of this list are marked with.
  let queue: EvictionUse.Queue
  private(set) var oldest = SlotNumber.none
  private(set) var newest = SlotNumber.none
  /// The sum of the nodes' costs.
  private(set) var cost = 0
  /// The number of nodes.
  private(set) var count = 0

  package init(_ queue: EvictionUse.Queue) {
    self.queue = queue
  }

  package var isEmpty: Bool { count == 0 }

  /// Links a node at the newest end.
  package mutating func append(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    nodes[number].older = newest
    nodes[number].newer = .none
    nodes[use: number].queue = queue
    if newest == .none { oldest = number } else { nodes[newest].newer = number }
    newest = number
    cost += Int(nodes[number].cost)
    count += 1
  }

  /// Unlinks a node.
  package mutating func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    let node = nodes[number]
    if node.older == .none { oldest = node.newer } else { nodes[node.older].newer = node.newer }
    if node.newer == .none { newest = node.older } else { nodes[node.newer].older = node.older }
    nodes[use: number].queue = .none
    cost -= Int(node.cost)
    count -= 1
  }

  /// Moves a node to the newest end.
  package mutating func moveToNewest(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    guard newest != number else { return }
    remove(number, in: nodes)
    append(number, in: nodes)
  }

  /// Replaces the slot numbers of the ends. The links between nodes are already updated.
  package mutating func renumber(_ numbers: borrowing Renumbering) {
    oldest = numbers[oldest]
    newest = numbers[newest]
  }

  /// Adjusts the sum for the new cost of a linked node. The caller writes the cost to the node.
  package mutating func changeCost(by difference: Int) {
    cost += difference
  }
}
