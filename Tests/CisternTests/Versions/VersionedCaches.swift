import CisternTesting
import Locking

@testable import Cistern

/// Caches of strings over one tier, as versions of a program would open them one after the other.
struct VersionedCaches: Sendable {
  static let partition = "texts"

  let tier: any SecondTier
  let clock: ManualClock
  var executor: (any TaskExecutor)?

  init(
    tier: any SecondTier = FaultInjectingTier(), clock: ManualClock = ManualClock(),
    executor: (any TaskExecutor)? = nil
  ) {
    self.tier = tier
    self.clock = clock
    self.executor = executor
  }

  /// The cache as the program of this version opens it.
  func open(
    version: UInt32?, memoryLimit: Int = 1_000_000, expiry: Expiry = .never, reports: Recorder<StoreReport.Code>? = nil,
    weight: Int? = nil, migrate: CacheSchema<String>.Migration? = nil
  ) throws -> Cache<String, String> {
    var options = Store.Configuration()
    options.clock = clock
    options.taskExecutor = executor
    options.respondsToMemoryPressure = false
    options.reportHandler = { report in reports?.record(report.code) }
    let store = try Store(secondTier: tier, memoryLimit: .bytes(memoryLimit), configuration: options)
    var configuration = CacheConfiguration<String>()
    if let weight { configuration.weigher = { weight + $0.utf8.count } }
    configuration.schema = version.map { CacheSchema(version: $0, migrate: migrate) }
    return try store.cache(
      Self.partition, of: String.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
  }

  /// What the tier has of a key, beside its value.
  func metadata(_ key: String) throws -> RecordMetadata? {
    let partition = try tier.partition(named: Self.partition) { _ in }
    return partition.withRecord(forKey: Array(key.utf8).rawSpan) { metadata, _ in metadata }
  }
}

/// Says where a text was migrated from.
let marking: CacheSchema<String>.Migration = { bytes, version in
  "\(String(decoding: bytes, as: UTF8.self)) of \(version)"
}

struct Unreadable: Error {}
