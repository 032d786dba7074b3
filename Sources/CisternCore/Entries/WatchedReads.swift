/// The values that writers in progress have read. Pure; guarded by the shard's lock.
///
/// An invalidation that concerns one of them changes the watched version of its key, and leaves other keys alone. A
/// writer that found no value has no read here, because an invalidation does not change that result.
@usableFromInline
struct WatchedReads<Key: Hashable & Sendable>: Sendable {
  @usableFromInline
  struct Read: Sendable {
    fileprivate let key: Key
    fileprivate var tags: [String]
    /// The watched version at which the value was read. The read is void if the key has another version.
    fileprivate var version: KeyVersions.Version
    /// Whether another key with the same fingerprint was read too. Then any invalidation concerns the read.
    fileprivate var isShared = false
  }

  private var reads: [UInt32: Read] = [:]

  init() {}

  var count: Int { reads.count }

  /// Notes that a writer read a key's value, with these tags and at this version.
  @usableFromInline
  mutating func note(_ key: Key, tags: [String], version: KeyVersions.Version, on fingerprint: UInt32) {
    guard var read = reads[fingerprint] else {
      reads[fingerprint] = Read(key: key, tags: tags, version: version)
      return
    }
    if !read.version.hasSameValue(as: version) { (read.version, read.tags) = (version, []) }
    for tag in tags where !read.tags.contains(tag) { read.tags.append(tag) }
    if read.key != key { read.isShared = true }
    reads[fingerprint] = read
  }

  /// Removes the read of a key that no writer watches any more.
  ///
  /// - Returns: The read, which the caller destroys outside all locks.
  @usableFromInline
  mutating func forget(_ fingerprint: UInt32) -> Read? { reads.removeValue(forKey: fingerprint) }

  /// Returns the fingerprints of the reads that an invalidation concerns.
  ///
  /// - Parameters:
  ///   - versions: The current versions of the keys.
  ///   - concerns: Returns whether the invalidation concerns a key with these tags.
  /// - Returns: The fingerprints.
  func concerned(of versions: KeyVersions, by concerns: (Key, [String]) -> Bool) -> [UInt32] {
    reads.compactMap { fingerprint, read in
      guard versions.hasValue(of: read.version, for: fingerprint) else { return nil }
      return read.isShared || concerns(read.key, read.tags) ? fingerprint : nil
    }
  }
}
