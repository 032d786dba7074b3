/// The part of a record's metadata that decides whether its value is fresh.
///
/// It is all metadata of a record without a grace, tags and other details. An enumeration of keys also takes it of
/// records with a grace and tags, which do not make a value fresh. A summary has no references, so it is copied without
/// reference counting.
@usableFromInline
package struct RecordSummary: Sendable {
  @usableFromInline package let created: WallTime
  /// The time at which the value expires, or nil if it never expires. A grace is not part of it.
  @usableFromInline package let expires: WallTime?
  @usableFromInline package let cost: UInt32
  @usableFromInline package let schemaVersion: UInt32

  @inlinable
  package init(created: WallTime, expires: WallTime?, cost: UInt32, schemaVersion: UInt32) {
    self.created = created
    self.expires = expires
    self.cost = cost
    self.schemaVersion = schemaVersion
  }

  /// The metadata of the record, without its invalidation version.
  @usableFromInline
  package var metadata: RecordMetadata {
    RecordMetadata(created: created, expires: expires, cost: cost, schemaVersion: schemaVersion)
  }

  /// Whether the value is fresh. The result is that of ``Timing``.
  ///
  /// - Parameters:
  ///   - wallNow: The time of day.
  ///   - latestWriteTime: The latest time of day at which the reader itself may have written a record.
  /// - Returns: Whether the value is fresh.
  @inlinable
  func isFresh(at wallNow: WallTime, latestWriteTime: WallTime) -> Bool {
    guard let expires else { return true }
    return created <= max(wallNow, latestWriteTime) && max(wallNow, created) < expires
  }
}
