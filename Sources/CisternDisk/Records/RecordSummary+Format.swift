import CisternCore

extension RecordHeader {
  /// Returns the summary of the record that has this header. It is enough to decide whether the value is fresh.
  ///
  /// The result has neither the grace nor the tags. It is nil if the lifetime depends on uses. It is also nil for a
  /// negative result, because the summary does not say that the record is one.
  func summary(of record: RawSpan) -> RecordSummary? {
    guard fields.isDisjoint(with: [.idle, .negative]) else { return nil }
    var expires: WallTime?
    if fields.contains(.expiry) {
      let place = RecordFormat.fixedSize + fields.intersection(.windows).size
      expires = WallTime(nanosecondsSince1970: record.integer(at: place, as: Int64.self))
    }
    return RecordSummary(created: created, expires: expires, cost: cost, schemaVersion: schemaVersion(of: record))
  }
}

extension RecordSummary {
  /// Reads the summary of a record under its key, which can be arbitrary bytes. No bytes make it trap.
  ///
  /// The result is nil if the record has more details, or if ``RecordHeader/init(trusting:)`` returns nil.
  @inline(__always)
  init?(trusting record: RawSpan) {
    guard record.byteCount >= RecordFormat.fixedSize else { return nil }
    // The version, a zero, the flags and the cost.
    let head = record.integer(at: 8, as: UInt64.self)
    let fields = RecordFields(rawValue: UInt16(truncatingIfNeeded: head >> 16))
    guard UInt8(truncatingIfNeeded: head) == RecordFormat.version, fields.isSubset(of: .summarized) else { return nil }
    let created = WallTime(nanosecondsSince1970: record.integer(at: 24, as: Int64.self))
    var expires: WallTime?
    var schemaVersion: UInt32 = 0
    if !fields.isEmpty {
      guard fields.size <= record.byteCount - RecordFormat.fixedSize else { return nil }
      // The expiration time is the first of these fields, and the schema version the last.
      if fields.contains(.expiry) {
        expires = WallTime(nanosecondsSince1970: record.integer(at: RecordFormat.fixedSize, as: Int64.self))
      }
      if fields.contains(.schemaVersion) {
        schemaVersion = record.integer(at: RecordFormat.fixedSize + fields.size - 4, as: UInt32.self)
      }
    }
    self.init(
      created: created, expires: expires, cost: UInt32(truncatingIfNeeded: head >> 32), schemaVersion: schemaVersion)
  }
}
