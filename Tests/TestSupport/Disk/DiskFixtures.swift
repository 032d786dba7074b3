import CisternCore
import CisternDisk
import CisternTesting
import Locking

/// The record losses and reports that a tier has delivered to a test.
package final class DeliveredReports: Sendable {
  package let losses = Guarded<[RecordLoss]>([])
  package let reports = Guarded<[StoreReport]>([])

  package init() {}

  package var reportCodes: [StoreReport.Code] { reports.withLock { $0.map(\.code) } }

  /// Waits for at least `count` reports, and returns their codes. The writer thread reports after it has resumed the
  /// waiters for a commit.
  package func reportCodes(atLeast count: Int) async -> [StoreReport.Code] {
    while reportCodes.count < count { await Task.yield() }
    return reportCodes
  }

  package var lostKeys: [[UInt8]] { losses.withLock { $0.map(\.key) } }

  package func lost(_ cause: RecordLoss.Cause) -> [[UInt8]] {
    losses.withLock { $0.filter { $0.cause == cause }.map(\.key) }
  }
}

package func openTier(
  _ scratch: TemporaryDirectory, limit: ByteCount = .mebibytes(16), layout: DiskLayout = .tested,
  durability: Durability = .processCrash, delivered: DeliveredReports = DeliveredReports(),
  isReadOnly: Bool = false, interval: Duration = .milliseconds(1), faults: DiskFaults = DiskFaults()
) throws -> DiskTier {
  var options = DiskOptions(
    limit: limit, layout: layout, durability: durability, isReadOnly: isReadOnly, commitInterval: interval)
  // The interval is so long that only a flush starts a retry in a test.
  options.retryInterval = .unreachable
  // A thread can be suspended for long in the middle of a read.
  options.readerPatience = .unreachable
  options.faults = faults
  return try DiskTier(directory: scratch.store, options: options) { report in
    delivered.reports.withLock { $0.append(report) }
  }
}

/// Creates a store with `count` records, and closes it.
package func fill(_ scratch: TemporaryDirectory, count: Int, durability: Durability = .processCrash) async throws {
  let tier = try openTier(scratch, durability: durability)
  let cache = try tier.cache()
  for number in 0..<count { cache.put("k\(number)", value(number, size: 700)) }
  try await tier.close()
}

extension DiskTier {
  package func cache(_ name: String = "cache", delivered: DeliveredReports = DeliveredReports()) throws
    -> any TransactionalPartition
  {
    try diskPartition(named: name) { losses in delivered.losses.withLock { $0 += losses } }
  }
}

extension TransactionalPartition {
  /// Stages a record with an invalidation version, which is the partition's current one by default.
  @discardableResult
  package func put(
    _ key: String, _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion? = nil
  ) -> StagingResult {
    put(Array(key.utf8), value, tags: tags, invalidationVersion: invalidationVersion)
  }

  @discardableResult
  package func put(
    _ key: [UInt8], _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion? = nil
  ) -> StagingResult {
    stage(Self.write(key, value, tags: tags, invalidationVersion: invalidationVersion ?? self.invalidationVersion))
  }

  package static func write(
    _ key: [UInt8], _ value: [UInt8], tags: [String] = [], invalidationVersion: InvalidationVersion = 0
  ) -> StagedWrite {
    var metadata = metadata(tags: tags)
    metadata.localVersion = invalidationVersion
    return .record(key: key, metadata, bytes: value)
  }

  @discardableResult
  package func remove(_ key: String) -> StagingResult { stage(.removal(key: Array(key.utf8))) }

  package func get(_ key: String) -> [UInt8]? { get(Array(key.utf8)) }

  package func get(_ key: [UInt8]) -> [UInt8]? {
    withRecord(forKey: key.rawSpan) { _, bytes in bytes.copiedBytes() }
  }

  package func has(_ key: [UInt8]) -> Bool { contains(key.rawSpan) }

  package static func metadata(tags: [String] = []) -> RecordMetadata {
    RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 7, tags: tags)
  }

  package func keys() -> Set<String> {
    var keys: Set<String> = []
    forEachRecord { key, _, _ in
      keys.insert(String(decoding: key.copiedBytes(), as: UTF8.self))
      return true
    }
    return keys
  }
}

package func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns bytes that depend only on the number and the size.
package func value(_ number: Int, size: Int) -> [UInt8] {
  var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: number))
  // An unoptimized loop over an array costs several times as much.
  return unsafe [UInt8](unsafeUninitializedCapacity: size + 8) { buffer, count in
    let start = UnsafeMutableRawPointer(buffer.baseAddress!)
    var offset = 0
    while offset < size {
      unsafe start.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    count = size
  }
}
