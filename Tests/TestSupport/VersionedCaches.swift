import CisternCore
import CisternTesting

/// Caches of strings over one tier, opened by successive versions of a program.
package struct VersionedCaches: Sendable {
  package static let partition = "texts"

  package let tier: any SecondTier
  package let clock: ManualClock
  package var executor: (any TaskExecutor)?

  package init(
    tier: any SecondTier = FaultInjectingTier(), clock: ManualClock = ManualClock(),
    executor: (any TaskExecutor)? = nil
  ) {
    self.tier = tier
    self.clock = clock
    self.executor = executor
  }

  /// Opens the cache as the program of this version does.
  package func open(
    version: UInt32?, memoryLimit: Int = 1_000_000, expiry: Expiry = .never, reports: Recorder<StoreReport.Code>? = nil,
    weight: Int? = nil, migrate: CacheSchema<String>.Migration? = nil
  ) throws -> Cache<String, String> {
    var options = Store.Configuration.ignoringMemoryPressure(clock: clock, taskExecutor: executor)
    options.reportHandler = { report in reports?.record(report.code) }
    let store = try Store(secondTier: tier, memoryLimit: .bytes(memoryLimit), configuration: options)
    var configuration = CacheConfiguration<String>()
    if let weight { configuration.weigher = { weight + $0.utf8.count } }
    configuration.schema = version.map { CacheSchema(version: $0, migrate: migrate) }
    return try store.cache(
      Self.partition, of: String.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
  }

  /// Returns the tier's metadata of a key.
  package func metadata(_ key: String) throws -> RecordMetadata? {
    let partition = try tier.transactionalPartition(named: Self.partition)
    return partition.withRecord(forKey: Array(key.utf8).rawSpan) { metadata, _ in metadata }
  }
}

/// A migration that appends the original version to the text.
package let marking: CacheSchema<String>.Migration = { bytes, version in
  "\(String(decoding: bytes, as: UTF8.self)) of \(version)"
}

package struct Unreadable: Error {
  package init() {}
}
