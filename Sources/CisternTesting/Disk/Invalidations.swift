import Cistern

/// The newest invalidation of each tag and prefix, and the number of the newest of all. None is ever forgotten: this is a
/// test's.
struct Invalidations {
  private(set) var newest: UInt64 = 0
  private var eras: [Invalidation: UInt64] = [:]

  mutating func add(_ invalidation: Invalidation, era: UInt64) {
    newest = max(newest, era)
    eras[invalidation] = max(era, eras[invalidation] ?? 0)
  }

  /// Whether one of them concerns a record with this key and metadata.
  func concern(_ metadata: RecordMetadata, key: [UInt8]) -> Bool {
    metadata.era < newest && eras.contains { $0.value > metadata.era && $0.key.concerns(key: key, tags: metadata.tags) }
  }
}
