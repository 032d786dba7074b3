/// A policy with a small queue for new entries and a main queue with second chances. A ghost table remembers the
/// entries that the small queue evicted. All three are measured in cost, not in entries.
///
/// The policy follows Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache eviction" (SOSP
/// 2023).
package final class S3FIFO: EvictionPolicy {
  // Guarded by the shard's lock, as all state of a policy.
  private var small = NodeList(.small)
  private var main = NodeList(.main)
  private var ghost = GhostTable()

  /// The inverse of the small queue's share of the cost.
  private static let smallShare = 10
  /// The hits that move an entry from the small queue to the main queue.
  private static let provenFrequency: UInt8 = 2
  /// The maximum number of hits that are counted.
  private static let maximumFrequency: UInt8 = 3

  package init() {}

  package var hitRule: HitRule { .count(upTo: Self.maximumFrequency) }

  package func insert(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    nodes[use: number].frequency = 0
    if ghost.remove(nodes[number].fingerprint) {
      main.append(number, in: nodes)
    } else {
      small.append(number, in: nodes)
    }
  }

  package func hit(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    nodes[use: number].frequency = min(nodes[use: number].frequency + 1, Self.maximumFrequency)
  }

  package func update(_ number: SlotNumber, cost: UInt32, in nodes: borrowing EvictionNodes) {
    let difference = Int(cost) - Int(nodes[number].cost)
    switch nodes[use: number].queue {
    case .small: small.changeCost(by: difference)
    case .main: main.changeCost(by: difference)
    case .none, .candidates: preconditionFailure("the updated entry is in no queue")
    }
    nodes[number].cost = cost
    hit(number, in: nodes)
  }

  package func remove(_ number: SlotNumber, in nodes: borrowing EvictionNodes) {
    switch nodes[use: number].queue {
    case .small: small.remove(number, in: nodes)
    case .main: main.remove(number, in: nodes)
    case .none, .candidates: preconditionFailure("the removed entry is in no queue")
    }
  }

  package func evict(keeping kept: SlotNumber, in nodes: borrowing EvictionNodes) -> SlotNumber? {
    // The loop terminates. Each iteration evicts an entry, moves one to the main queue, or removes one of at most
    // three hits from an entry there.
    while small.count + main.count > (kept == .none ? 0 : 1) {
      let smallIsOver = small.cost * Self.smallShare >= small.cost + main.cost
      let mainHasNone = main.isEmpty || (main.count == 1 && main.oldest == kept)
      if !small.isEmpty, smallIsOver || mainHasNone {
        let candidate = small.oldest
        small.remove(candidate, in: nodes)
        if candidate == kept || nodes[use: candidate].frequency >= Self.provenFrequency {
          nodes[use: candidate].frequency = 0
          main.append(candidate, in: nodes)
        } else {
          ghost.insert(nodes[candidate].fingerprint, cost: nodes[candidate].cost, capacity: main.cost + small.cost)
          return candidate
        }
      } else {
        let candidate = main.oldest
        if candidate == kept || nodes[use: candidate].frequency > 0 {
          if candidate != kept { nodes[use: candidate].frequency -= 1 }
          main.moveToNewest(candidate, in: nodes)
        } else {
          main.remove(candidate, in: nodes)
          return candidate
        }
      }
    }
    return nil
  }

  package func renumber(_ numbers: borrowing Renumbering) {
    small.renumber(numbers)
    main.renumber(numbers)
  }

  package func removeAll() -> (any Sendable)? {
    small = NodeList(.small)
    main = NodeList(.main)
    guard !ghost.isEmpty else { return nil }
    defer { ghost = GhostTable() }
    return ghost
  }

  package var total: (cost: Int, count: Int) { (small.cost + main.cost, small.count + main.count) }
}
