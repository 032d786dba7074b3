/// The version of the encoding that a cache writes, and the migration of older versions.
///
/// ```swift
/// var configuration = CacheConfiguration<Article>()
/// configuration.schema = CacheSchema(version: 2) { bytes, version in
///   version == 1 ? Article(title: String(decoding: bytes, as: UTF8.self), text: "") : nil
/// }
/// ```
///
/// Every record contains the version that wrote it. A cache without a schema writes version 0. Opening a cache
/// migrates nothing, so its time does not depend on the number of records:
///
/// - A record of an *older* version is migrated when it is first read, and is written again in the cache's version.
///   Observers are not notified, because the value of the key does not change.
/// - A record of a *newer* version reads as absent, and stays until its key is written or removed. A program that
///   returns to the newer version finds the record again.
public struct CacheSchema<Value: Sendable>: Sendable {
  /// A closure that creates a value from the bytes of an older version, or returns nil if it cannot.
  public typealias Migration = @Sendable (_ bytes: [UInt8], _ version: UInt32) throws -> Value?

  /// The version that the cache writes.
  public var version: UInt32
  /// The migration of older records. If it is nil, every older record is removed when it is read.
  ///
  /// The closure receives the bytes of a record and the version that wrote them. It is called outside all locks and
  /// transactions, on the thread or task that reads. Several threads may call it concurrently.
  ///
  /// - If it returns a value, the value keeps the record's lifetime and tags. The cache weighs and encodes it again.
  /// - If it returns nil, the record is removed.
  /// - If it throws, the record is removed and reported (``StoreReport/Code/notMigrated``).
  public var migrate: Migration?

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - version: The version that the cache writes.
  ///   - migrate: The migration of older records, or nil to remove them.
  public init(version: UInt32, migrate: Migration? = nil) {
    self.version = version
    self.migrate = migrate
  }
}
