import Cistern
import CisternTesting
import LMDB
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The record losses and reports that a tier has delivered to a test.
final class Told: Sendable {
  let losses = Guarded<[RecordLoss]>([])
  let reports = Guarded<[StoreReport]>([])

  var reportCodes: [StoreReport.Code] { reports.withLock { $0.map(\.code) } }

  /// Waits for at least `count` reports, and returns their codes. The writer thread reports after it has resumed the
  /// waiters for a commit.
  func reportCodes(atLeast count: Int) async -> [StoreReport.Code] {
    while reportCodes.count < count { await Task.yield() }
    return reportCodes
  }
  var lostKeys: [[UInt8]] { losses.withLock { $0.map(\.key) } }

  func lost(_ cause: RecordLoss.Cause) -> [[UInt8]] {
    losses.withLock { $0.filter { $0.cause == cause }.map(\.key) }
  }
}

func openTier(
  _ scratch: Scratch, limit: ByteCount = .mebibytes(16), durability: Durability = .processCrash, told: Told = Told(),
  isReadOnly: Bool = false, interval: Duration = .milliseconds(1), faults: DiskFaults = DiskFaults()
) throws -> DiskTier {
  try DiskTier(
    directory: scratch.store,
    options: DiskOptions(
      limit: limit, durability: durability, isReadOnly: isReadOnly, commitInterval: interval,
      // The interval is so long that only a flush starts a retry in a test.
      retryInterval: .seconds(3600), faults: faults)
  ) { report in told.reports.withLock { $0.append(report) } }
}

/// Creates a store with `count` records, and closes it.
func fill(_ scratch: Scratch, count: Int, durability: Durability = .processCrash) async throws {
  let tier = try openTier(scratch, durability: durability)
  let cache = try tier.cache()
  for number in 0..<count { cache.put("k\(number)", value(number, size: 700)) }
  try await tier.close()
}

extension DiskTier {
  func cache(_ name: String = "cache", told: Told = Told()) throws -> any TransactionalPartition {
    try diskPartition(named: name) { losses in told.losses.withLock { $0 += losses } }
  }
}

extension DiskTier {
  /// Waits until all writes are committed and all invalidated records are purged.
  func purge() async throws {
    try await flush()
    while engine.partitions.contains(where: { !$0.invalidations.pending.isEmpty }) { await Task.yield() }
    try await flush()
  }
}

extension TransactionalPartition {
  /// Stages a record with an invalidation version, which is the partition's current one by default.
  @discardableResult
  func put(
    _ key: String, _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion? = nil
  ) -> StagingResult {
    put(Array(key.utf8), value, tags: tags, invalidationVersion: invalidationVersion)
  }

  @discardableResult
  func put(
    _ key: [UInt8], _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion? = nil
  ) -> StagingResult {
    stage(Self.write(key, value, tags: tags, invalidationVersion: invalidationVersion ?? self.invalidationVersion))
  }

  static func write(
    _ key: [UInt8], _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion = 0
  ) -> StagedWrite {
    var metadata = metadata(tags: tags)
    metadata.localVersion = invalidationVersion
    return .record(key: key, metadata, bytes: value)
  }

  @discardableResult
  func remove(_ key: String) -> StagingResult { stage(.removal(key: Array(key.utf8))) }

  func get(_ key: String) -> [UInt8]? { get(Array(key.utf8)) }

  func get(_ key: [UInt8]) -> [UInt8]? {
    withRecord(forKey: key.rawSpan) { _, bytes in bytes.copiedBytes() }
  }

  func has(_ key: [UInt8]) -> Bool { contains(key.rawSpan) }

  static func metadata(tags: [String] = []) -> RecordMetadata {
    RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 7, tags: tags)
  }

  func keys() -> Set<String> {
    var keys: Set<String> = []
    forEachRecord { key, _, _ in
      keys.insert(String(decoding: key.copiedBytes(), as: UTF8.self))
      return true
    }
    return keys
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns bytes that depend only on the number and the size.
func value(_ number: Int, size: Int) -> [UInt8] {
  var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: number))
  let words = (0...size / 8).map { _ in generator.next() }
  return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(size)) }
}

/// A value that a test sets and another thread reads.
final class Switch<Value: Sendable>: Sendable {
  private let value = Guarded<Value?>(nil)

  func set(_ new: Value?) { value.withLock { $0 = new } }
  func peek() -> Value? { value.withLock { $0 } }

  /// Returns the value and clears it.
  func take() -> Value? {
    value.withLock { value in
      let taken = value
      value = nil
      return taken
    }
  }
}
