/// Which version of its values' encoding a cache writes, and what it makes of older ones.
///
/// ```swift
/// var configuration = CacheConfiguration<Article>()
/// configuration.schema = CacheSchema(version: 2) { bytes, version in
///   version == 1 ? Article(title: String(decoding: bytes, as: UTF8.self), text: "") : nil
/// }
/// ```
///
/// Every record says which version wrote it; a cache without a schema writes version 0. Nothing is done when a cache is
/// opened, however much it holds:
///
/// - A record of an *older* version is migrated when it is first wanted, and written again in the cache's version. No
///   change is announced: the key has the value that it had.
/// - A record of a *newer* version is left alone: it reads as absent, and stays until its key is written or removed. A
///   program that goes back to the newer version finds it again.
public struct CacheSchema<Value: Sendable>: Sendable {
  /// Makes a value of the bytes that an older version wrote. Nil says that nothing can be made of them.
  public typealias Migration = @Sendable (_ bytes: [UInt8], _ version: UInt32) throws -> Value?

  /// The version that the cache writes.
  public var version: UInt32
  /// Makes a value of an older record's bytes, given them and the version that wrote them; nil to drop every older record.
  ///
  /// Called on the thread or task that reads, outside all locks and transactions; by several, where they read at once.
  /// What it returns keeps the record's lifetime and tags, and is weighed and encoded anew. Where it returns nil the record
  /// is removed. Where it throws, that record is removed and reported (``StoreReport/Code/notMigrated``), and no other.
  public var migrate: Migration?

  /// Creates a schema.
  public init(version: UInt32, migrate: Migration? = nil) {
    self.version = version
    self.migrate = migrate
  }
}
