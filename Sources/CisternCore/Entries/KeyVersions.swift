/// The versions of the watched keys of a shard. Pure; guarded by the shard's lock.
///
/// A write that depends on a value applies only if the key still has the version that the writer read. Keys that no
/// writer watches cost nothing.
///
/// Keys are identified by their fingerprints. If two keys share a fingerprint, a write of one makes writers of the
/// other try again. Only the table knows which of them has unconfirmed edits.
@usableFromInline
struct KeyVersions {
  /// The watched version of a key: the numbers of its writes since a writer began to watch it.
  @usableFromInline
  struct Version: Sendable, Hashable {
    /// The number of changes of the key's value, except for writes with the effect ``WriteEffect/maintenance``.
    @usableFromInline var changes: UInt32 = 0
    /// The number of removals, of replacements that are not merged, and of fetches anew. A value whose fetch began before one is
    /// not stored.
    @usableFromInline var ends: UInt32 = 0

    @inlinable
    init(changes: UInt32 = 0, ends: UInt32 = 0) {
      self.changes = changes
      self.ends = ends
    }

    /// Returns whether a read at the other version is still right. A removal of all keys that found no value ends fetches
    /// only.
    @inlinable
    func hasSameValue(as other: Version) -> Bool { changes == other.changes }
  }

  /// The state of one watched key.
  @usableFromInline
  struct Watched {
    var watchers = 0
    /// A lower bound of the invalidation versions of the fetches that watch the key; the maximum if no fetch watches
    /// it.
    var oldestFlight = InvalidationVersion.max
    @usableFromInline var version = Version()
    /// The number of keys with this fingerprint that have unconfirmed edits. Each pending edit watches its key, which keeps this
    /// number.
    @usableFromInline var editedCount = 0

    /// Whether a key with this fingerprint has unconfirmed edits.
    @inlinable
    var isEdited: Bool { editedCount > 0 }
  }

  @usableFromInline var watched: [UInt32: Watched] = [:]

  init() {}

  @inlinable
  var isEmpty: Bool { watched.isEmpty }

  var count: Int { watched.count }

  /// The state of a key; nil if no writer watches it.
  @usableFromInline
  subscript(fingerprint: UInt32) -> Watched? { watched[fingerprint] }

  /// Returns whether a read of the watched key at this version is still right. False if no writer watches the key.
  @usableFromInline
  func hasValue(of version: Version, for fingerprint: UInt32) -> Bool {
    watched[fingerprint]?.version.hasSameValue(as: version) ?? false
  }

  /// Adds a watcher to a key, until ``unwatch(_:)``.
  ///
  /// - Parameters:
  ///   - fingerprint: The fingerprint of the key.
  ///   - invalidationVersion: The invalidation version when the fetch began, if the watcher is a fetch.
  @usableFromInline
  mutating func watch(_ fingerprint: UInt32, fetchedSince invalidationVersion: InvalidationVersion = .max) {
    var key = watched[fingerprint] ?? Watched()
    key.watchers += 1
    key.oldestFlight = min(key.oldestFlight, invalidationVersion)
    watched[fingerprint] = key
  }

  /// A lower bound of the invalidation versions of all fetches that watch a key.
  ///
  /// - Complexity: O(*n*) for *n* watched keys.
  @usableFromInline
  var oldestFlight: InvalidationVersion { watched.values.reduce(.max) { min($0, $1.oldestFlight) } }

  /// Removes a watcher from a key.
  @usableFromInline
  mutating func unwatch(_ fingerprint: UInt32) {
    guard var key = watched[fingerprint] else { preconditionFailure("the key has no watcher") }
    key.watchers -= 1
    watched[fingerprint] = key.watchers == 0 ? nil : key
  }

  /// Notes a write of a key.
  @usableFromInline
  mutating func note(_ effect: WriteEffect, on fingerprint: UInt32) {
    guard effect != .maintenance, watched[fingerprint] != nil else { return }
    watched[fingerprint]?.version.changes &+= 1
    if effect == .replacement { watched[fingerprint]?.version.ends &+= 1 }
  }

  /// Notes that a load fetches a key anew. A write may have taken the entry of an earlier flight, so that the load does not find that
  /// flight.
  @usableFromInline
  mutating func noteFetchAnew(on fingerprint: UInt32) {
    if isEmpty { return }
    watched[fingerprint]?.version.ends &+= 1
  }

  /// Notes that every key was removed, or may have been.
  @usableFromInline
  mutating func noteRemovalOfAll() {
    if isEmpty { return }
    for fingerprint in watched.keys { note(.replacement, on: fingerprint) }
  }

  /// Notes that every key was removed in place of those that an invalidation concerns.
  ///
  /// A fetch that began before is not stored. A writer reads again only if the removal took the value that it read: otherwise, a
  /// writer whose own code invalidates keys would never end.
  ///
  /// - Parameter read: The keys whose current value a writer has read.
  @usableFromInline
  mutating func noteWidenedRemoval(ofRead read: some Sequence<UInt32>) {
    if isEmpty { return }
    for fingerprint in watched.keys { watched[fingerprint]?.version.ends &+= 1 }
    let edited = watched.keys.filter { watched[$0]?.isEdited == true }
    for fingerprint in Set(read).union(edited) { watched[fingerprint]?.version.changes &+= 1 }
  }

  /// Notes that no key has unconfirmed edits any more.
  @usableFromInline
  mutating func endEdits() {
    if isEmpty { return }
    for fingerprint in watched.keys { watched[fingerprint]?.editedCount = 0 }
  }

  /// Notes that the unconfirmed edits of a watched key begin or end. Call it once for each of these changes.
  @usableFromInline
  mutating func setEdited(_ isEdited: Bool, _ fingerprint: UInt32) {
    guard var key = watched[fingerprint] else { return }
    key.editedCount += isEdited ? 1 : -1
    watched[fingerprint] = key
  }
}

/// The effect of a write on the unconfirmed edits of its key.
@usableFromInline
enum EditMark: Sendable, Hashable {
  /// The edits stay the same.
  case unchanged
  /// The edits end.
  case ended
  /// The first edit begins.
  case began
}

/// The effect of a write on operations that began before it.
@usableFromInline
enum WriteEffect: Sendable, Hashable {
  /// The key is removed, or its value is replaced. A value whose fetch began before is not stored.
  case replacement
  /// The write adds a value that other values are merged with. A value whose fetch began before is merged under it.
  case addition
  /// As ``addition``, by a fetch that began before the key's current value. The flight that began after that value stays in progress.
  case olderAddition
  /// The value stays the same, or it ended by itself: it was promoted, expired or damaged.
  case maintenance
}
