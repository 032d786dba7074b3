/// What a client does next.
enum Operation: String, Sendable, CaseIterable {
  /// A synchronous look-up in both tiers.
  case lookUp
  /// A look-up that fetches what is not there.
  case load
  /// A load with some policy, refreshes included.
  case loadOtherwise
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
  /// The removal of all keys with a tag.
  case removeTagged
  /// The removal of all keys with a prefix.
  case removePrefix
  /// A request to give memory back.
  case trim
  /// The exercise of an origin that goes away.
  case outage
  /// The exercise of merged values.
  case merge
  /// The exercise of updates.
  case count
  /// The exercise of batches.
  case pair
  /// The exercise of drafts.
  case transfer
  /// The exercise of optimistic edits.
  case edit
  /// The exercise of absent values and of versions of the schema.
  case recall
}

/// How often each operation comes up.
struct OperationMix: Sendable {
  private let thresholds: [(limit: UInt64, operation: Operation)]

  /// Whether it comes up at all.
  func includes(_ operation: Operation) -> Bool { thresholds.contains { $0.operation == operation } }

  /// Reads dominate, as they do where a cache pays; the rest is frequent enough to meet every other operation often.
  static let mixed = OperationMix([
    .lookUp: 590_000, .load: 240_000, .loadOtherwise: 20_000, .view: 40_000, .bulkLoad: 2_000, .cancel: 1_500,
    .write: 55_000, .commit: 1_000, .writeOversize: 50, .remove: 16_000, .commitRemoval: 300,
    .observe: 1_000, .removeAll: 4, .removeTagged: 30, .removePrefix: 5, .trim: 20,
    .outage: 10_000, .merge: 5_000, .count: 5_000, .pair: 5_000, .transfer: 4_000, .edit: 4_000, .recall: 4_000,
  ])

  /// Almost nothing but reads.
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
    .recall: 20_000,
  ])

  /// Removals of many keys at once, while they are fetched and written.
  static let invalidating = OperationMix([
    .lookUp: 300_000, .load: 500_000, .loadOtherwise: 50_000, .view: 20_000, .bulkLoad: 10_000, .cancel: 5_000,
    .write: 60_000, .commit: 1_000, .remove: 30_000, .commitRemoval: 500, .observe: 2_000, .removeAll: 300,
    .removeTagged: 6_000, .removePrefix: 3_000, .trim: 20, .recall: 10_000,
  ])

  /// Loads of every kind.
  static let flaky = OperationMix([
    .lookUp: 200_000, .load: 300_000, .loadOtherwise: 300_000, .view: 10_000, .bulkLoad: 5_000, .cancel: 10_000,
    .write: 10_000, .remove: 5_000, .observe: 500, .outage: 150_000,
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
