import CisternTesting

/// The relative frequencies of operations.
struct OperationMix: Sendable {
  private let thresholds: [(limit: UInt64, operation: Operation)]

  /// Returns whether the operation has a frequency above zero.
  func includes(_ operation: Operation) -> Bool { thresholds.contains { $0.operation == operation } }

  /// Mostly reads, as in typical uses of a cache. The other operations are frequent enough to interleave with one
  /// another.
  static let mixed = OperationMix([
    .lookUp: 590_000, .load: 240_000, .loadOtherwise: 20_000, .view: 40_000, .bulkLoad: 2_000, .cancel: 1_500,
    .write: 55_000, .commit: 1_000, .writeOversize: 50, .remove: 16_000, .commitRemoval: 300,
    .observe: 1_000, .removeAll: 4, .removeTagged: 30, .removePrefix: 5, .trim: 20,
    .outage: 10_000, .merge: 5_000, .count: 5_000, .pair: 5_000, .transfer: 4_000, .edit: 4_000, .recall: 4_000,
    .breaker: 4_000, .outcome: 5_000, .contents: 4_000, .backup: 800,
  ])

  /// Nearly only reads.
  static let readHeavy = OperationMix([
    .lookUp: 700_000, .load: 280_000, .loadOtherwise: 5_000, .view: 10_000, .bulkLoad: 500, .write: 3_000,
    .remove: 200, .observe: 100,
  ])

  /// Mostly writes of every kind.
  static let churning = OperationMix([
    .lookUp: 150_000, .load: 100_000, .loadOtherwise: 5_000, .view: 20_000, .bulkLoad: 1_000, .cancel: 1_000,
    .write: 400_000, .commit: 10_000, .writeOversize: 200, .remove: 120_000, .commitRemoval: 3_000,
    .observe: 2_000, .removeAll: 20, .removeTagged: 200, .removePrefix: 100, .trim: 100,
    .merge: 40_000, .count: 40_000, .pair: 40_000, .transfer: 30_000, .edit: 30_000,
    .recall: 20_000, .outcome: 20_000, .contents: 20_000, .backup: 2_000,
  ])

  /// Removals of many keys, concurrently with fetches and writes.
  static let invalidating = OperationMix([
    .lookUp: 300_000, .load: 500_000, .loadOtherwise: 50_000, .view: 20_000, .bulkLoad: 10_000, .cancel: 5_000,
    .write: 60_000, .commit: 1_000, .remove: 30_000, .commitRemoval: 500, .observe: 2_000, .removeAll: 300,
    .removeTagged: 6_000, .removePrefix: 3_000, .trim: 20, .recall: 10_000, .outcome: 20_000,
    .contents: 20_000,
  ])

  /// Loads of every kind.
  static let flaky = OperationMix([
    .lookUp: 200_000, .load: 300_000, .loadOtherwise: 300_000, .view: 10_000, .bulkLoad: 5_000, .cancel: 10_000,
    .write: 10_000, .remove: 5_000, .observe: 500, .outage: 150_000, .breaker: 60_000, .outcome: 60_000,
  ])

  /// - Parameter weights: The relative frequency of each operation. Absent operations do not occur.
  init(_ weights: [Operation: UInt64]) {
    var sum: UInt64 = 0
    thresholds = Operation.allCases.compactMap { operation in
      guard let weight = weights[operation], weight > 0 else { return nil }
      sum += weight
      return (sum, operation)
    }
    precondition(sum > 0)
  }

  func next(using generator: inout SeededGenerator) -> Operation {
    let draw = UInt64(generator.next(below: Int(thresholds.last!.limit)))
    return thresholds.first { draw < $0.limit }!.operation
  }
}
