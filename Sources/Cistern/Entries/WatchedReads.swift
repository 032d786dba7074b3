/// The values that writers under way have read: an invalidation that concerns one changes the version of its key, and leaves
/// the versions of other keys alone. Pure; guarded by the lock of its shard.
///
/// A writer that found no value has no read here. An invalidation changes nothing of what it found.
@usableFromInline
struct WatchedReads<Key: Hashable & Sendable>: Sendable {
  @usableFromInline
  struct Read: Sendable {
    fileprivate let key: Key
    fileprivate var tags: [String]
    /// The version that the value was read with. A read of another version is void.
    fileprivate var version: KeyVersions.Version
    /// Another key with the same fingerprint was read, too: any invalidation concerns the read.
    fileprivate var isShared = false
  }

  private var reads: [UInt32: Read] = [:]

  init() {}

  var count: Int { reads.count }

  /// The key was found, at this version, with a value that has these tags.
  @usableFromInline
  mutating func note(_ key: Key, tags: [String], version: KeyVersions.Version, on fingerprint: UInt32) {
    guard var read = reads[fingerprint] else {
      reads[fingerprint] = Read(key: key, tags: tags, version: version)
      return
    }
    if read.version != version { (read.version, read.tags) = (version, []) }
    for tag in tags where !read.tags.contains(tag) { read.tags.append(tag) }
    if read.key != key { read.isShared = true }
    reads[fingerprint] = read
  }

  /// No writer watches the key any more. Returns the read, for the caller to free outside all locks.
  @usableFromInline
  mutating func forget(_ fingerprint: UInt32) -> Read? { reads.removeValue(forKey: fingerprint) }

  /// The fingerprints of reads that an invalidation concerns.
  ///
  /// - Parameters:
  ///   - versions: the versions of the keys now.
  ///   - concerns: whether the invalidation concerns a key with these tags.
  func concerned(of versions: KeyVersions, by concerns: (Key, [String]) -> Bool) -> [UInt32] {
    reads.compactMap { fingerprint, read in
      guard versions[fingerprint]?.version == read.version else { return nil }
      return read.isShared || concerns(read.key, read.tags) ? fingerprint : nil
    }
  }
}
