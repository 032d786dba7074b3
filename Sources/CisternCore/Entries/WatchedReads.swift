/// The values that writers in progress have read. Pure; guarded by the shard's lock.
///
/// An invalidation that concerns one of them changes the watched version of its key, and leaves other keys alone. A
/// writer that found no value has no read here, because an invalidation does not change that result.
@usableFromInline
struct WatchedReads<Key: Hashable & Sendable>: Sendable {
  private struct Read {
    var tags: [String]
    /// The watched version at which the value was read. The read is void if the key has another version.
    var version: KeyVersion
  }

  private var reads: [HashedKey<Key>: Read] = [:]

  init() {}

  var count: Int { reads.count }

  /// Notes that a writer read a key's value, with these tags and at this version.
  @usableFromInline
  mutating func note(_ key: HashedKey<Key>, tags: [String], version: KeyVersion) {
    guard var read = reads[key] else {
      reads[key] = Read(tags: tags, version: version)
      return
    }
    if !read.version.hasSameValue(as: version) { (read.version, read.tags) = (version, []) }
    for tag in tags where !read.tags.contains(tag) { read.tags.append(tag) }
    reads[key] = read
  }

  /// Removes the read of a key that no writer watches any more.
  ///
  /// - Returns: The key of the read, which the caller destroys outside all locks. It can be another object than an
  ///   equal key.
  @usableFromInline
  mutating func forget(_ key: HashedKey<Key>) -> HashedKey<Key>? {
    reads.index(forKey: key).map { reads.remove(at: $0).key }
  }

  /// Returns the keys of the reads that an invalidation concerns.
  ///
  /// - Parameters:
  ///   - versions: The current versions of the keys.
  ///   - concerns: Returns whether the invalidation concerns a key with these tags.
  /// - Returns: The keys.
  @usableFromInline
  func concerned(of versions: KeyVersions<Key>, by concerns: (Key, [String]) -> Bool) -> [HashedKey<Key>] {
    reads.compactMap { key, read in
      guard versions.hasValue(of: read.version, for: key) else { return nil }
      return concerns(key.key, read.tags) ? key : nil
    }
  }
}
