/// What a client does next.
enum Operation: String, Sendable, CaseIterable {
  /// A synchronous look-up in both tiers.
  case lookUp
  /// A look-up that fetches what is not there.
  case load
  /// A borrowed view of the bytes.
  case view
  /// Several keys at once, fetching what is not there.
  case bulkLoad
  /// Several loads of one key, some of which are cancelled.
  case cancel
  /// A write that returns at once.
  case write
  /// A write that returns once it is on disk.
  case commit
  /// A write of a value that no tier can hold.
  case writeOversize
  /// A removal that returns at once.
  case remove
  /// A removal that returns once it is on disk.
  case commitRemoval
  /// A change of what the client observes.
  case observe
  /// The removal of everything.
  case removeAll
  /// A request to give memory back.
  case trim
}

/// How often each operation comes up.
struct OperationMix: Sendable {
  private let thresholds: [(limit: UInt64, operation: Operation)]

  /// Reads dominate, as they do where a cache pays; the rest is frequent enough to meet every other operation often.
  static let mixed = OperationMix([
    .lookUp: 620_000, .load: 260_000, .view: 40_000, .bulkLoad: 2_000, .cancel: 1_500,
    .write: 55_000, .commit: 1_000, .writeOversize: 50, .remove: 16_000, .commitRemoval: 300,
    .observe: 1_000, .removeAll: 4, .trim: 20,
  ])

  /// - Parameter weights: How often each comes up, against the others.
  init(_ weights: [Operation: UInt64]) {
    var sum: UInt64 = 0
    thresholds = Operation.allCases.compactMap { operation in
      guard let weight = weights[operation], weight > 0 else { return nil }
      sum += weight
      return (sum, operation)
    }
    precondition(sum > 0)
  }

  func next(using generator: inout SplitMix64) -> Operation {
    let draw = UInt64(generator.index(below: Int(thresholds.last!.limit)))
    return thresholds.first { draw < $0.limit }!.operation
  }
}
