import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// A model of a second-tier partition, made of two dictionaries.
struct PartitionModel {
  struct Record {
    var bytes: [UInt8]
    var tags: [String]
    var invalidationVersion: UInt64
  }

  var records: [[UInt8]: Record] = [:]
  var invalidations: [Invalidation: UInt64] = [:]
  var invalidationVersion: UInt64 = 0

  static let tags = ["red", "green", "blue", ""]
  static let keys: [[UInt8]] = (0..<40).map { number in
    // Keys with common prefixes, the empty key, and keys so long that the file contains only their digests.
    let sizes = [0, 1, 5, 64, 65, 130]
    return [[], [7], [7, 7]][number % 3] + [UInt8](repeating: UInt8(number), count: sizes[number % 6])
  }

  func bytes(_ key: [UInt8]) -> [UInt8]? {
    guard let record = records[key] else { return nil }
    let isInvalid = invalidations.contains {
      $0.value > record.invalidationVersion && $0.key.concerns(key: key, tags: record.tags)
    }
    return isInvalid ? nil : record.bytes
  }

  var present: [[UInt8]: [UInt8]] {
    var present: [[UInt8]: [UInt8]] = [:]
    for key in records.keys { present[key] = bytes(key) }
    return present
  }

  /// Returns a random write, after applying it to the model. `oldestVersion` is the lowest invalidation version that
  /// the write can have.
  mutating func write(oldestVersion: UInt64, using generator: inout SeededGenerator) -> StagedWrite {
    let key = PartitionModel.keys.randomElement(using: &generator)!
    guard Int.random(in: 0..<4, using: &generator) > 0 else {
      records[key] = nil
      return .removal(key: key)
    }
    let tags = PartitionModel.tags.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
    let size = [0, 10, 1000, 5000].randomElement(using: &generator)!
    let record = Record(
      bytes: value(Int.random(in: 0..<1000, using: &generator), size: size), tags: tags,
      invalidationVersion: max(
        oldestVersion,
        invalidationVersion - min(invalidationVersion, [0, 0, 0, 1, 5].randomElement(using: &generator)!)))
    records[key] = record
    var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: tags)
    metadata.invalidationVersion = record.invalidationVersion
    return .record(key: key, metadata, bytes: record.bytes)
  }

  mutating func invalidation(using generator: inout SeededGenerator) -> Invalidation {
    let key = PartitionModel.keys.randomElement(using: &generator)!
    let invalidation: Invalidation =
      Bool.random(using: &generator)
      ? .tag(PartitionModel.tags.randomElement(using: &generator)!)
      : .prefix(Array(key.prefix([0, 1, 2, 3, 70].randomElement(using: &generator)!)))
    invalidationVersion += 1
    invalidations[invalidation] = invalidationVersion
    return invalidation
  }

  /// Applies a random step to the model and to the partition. Steps do not open or close the tier.
  mutating func step(
    on partition: any TransactionalPartition, oldestVersion: UInt64, using generator: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<60: _ = partition.stage(write(oldestVersion: oldestVersion, using: &generator))
    case 60..<80:
      let count = Int.random(in: 0...8, using: &generator)
      let batch = partition.beginBatch()
      for _ in 0..<count { _ = partition.stage(write(oldestVersion: oldestVersion, using: &generator), in: batch) }
      partition.endBatch(batch)
    case 80..<92:
      let (invalidationVersion, _) = partition.stageInvalidation(invalidation(using: &generator))
      #expect(invalidationVersion.number == self.invalidationVersion)
    case 92..<94:
      _ = partition.stageRemovalOfAll()
      records = [:]
    default: expectAgreement(PartitionModel.keys.randomElement(using: &generator)!, with: partition)
    }
  }

  func expectAgreement(_ key: [UInt8], with partition: any TransactionalPartition, _ comment: Comment? = nil) {
    let isRight = partition.get(key) == bytes(key)
    #expect(isRight, comment)
    #expect(partition.has(key) == (bytes(key) != nil), comment)
  }

  /// Compares the whole partition with the model. All writes must be committed before the call.
  func expectAgreement(with partition: any TransactionalPartition, _ comment: Comment? = nil) {
    for key in PartitionModel.keys { expectAgreement(key, with: partition, comment) }
    var listed: Set<[UInt8]> = []
    partition.forEachRecord { key, _, _ in
      #expect(listed.insert(key.copiedBytes()).inserted)
      return true
    }
    #expect(listed == Set(present.keys), comment)
    #expect(partition.invalidationVersion.number == invalidationVersion, comment)
  }
}
