/// The versions of the watched keys of a shard. Pure; guarded by the shard's lock.
///
/// A write that depends on a value applies only if the key still has the version that the writer read. Keys that no
/// writer watches cost nothing.
///
/// Different keys with one hash have a version each. Otherwise, a writer whose own code writes such a key would never
/// end.
@usableFromInline
struct KeyVersions<Key: Hashable & Sendable>: Sendable {
  @usableFromInline var watched: [HashedKey<Key>: WatchedKey] = [:]

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { watched.isEmpty }

  var count: Int { watched.count }

  /// The state of a key; nil if no writer watches it.
  @inlinable
  subscript(key: HashedKey<Key>) -> WatchedKey? { watched[key] }

  /// Returns whether a read of the watched key at this version is still right. False if no writer watches the key.
  @inlinable
  func hasValue(of version: KeyVersion, for key: HashedKey<Key>) -> Bool {
    watched[key]?.version.hasSameValue(as: version) ?? false
  }

  /// Adds a watcher to a key, until ``unwatch(_:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - invalidationVersion: The invalidation version when the reader began; the maximum for a writer.
  /// - Returns: The version of the key.
  @inlinable
  @discardableResult
  mutating func watch(
    _ key: HashedKey<Key>, readSince invalidationVersion: InvalidationVersion = .max
  ) -> KeyVersion {
    var state = watched[key] ?? WatchedKey()
    state.watchers += 1
    if invalidationVersion != .max {
      state.readers += 1
      state.oldestRead = min(state.oldestRead, invalidationVersion)
    }
    watched[key] = state
    return state.version
  }

  /// A lower bound of the invalidation versions of all readers that watch a key.
  ///
  /// - Complexity: O(*n*) for *n* watched keys.
  @inlinable
  var oldestRead: InvalidationVersion { watched.values.reduce(.max) { min($0, $1.oldestRead) } }

  /// Removes a watcher from a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - watcher: The kind of the watcher.
  /// - Returns: The key if it has no watcher any more. The caller destroys it outside all locks.
  @inlinable
  @discardableResult
  mutating func unwatch(_ key: HashedKey<Key>, as watcher: KeyWatcher = .writer) -> HashedKey<Key>? {
    guard let index = watched.index(forKey: key) else { preconditionFailure("the key has no watcher") }
    if watched[index].value.watchers == 1 { return watched.remove(at: index).key }
    watched.values[index].watchers -= 1
    if watcher == .reader {
      watched.values[index].readers -= 1
      // Other watchers can stay for long, and must not keep the invalidations of this reader's time.
      if watched[index].value.readers == 0 { watched.values[index].oldestRead = .max }
    }
    return nil
  }

  /// Notes a write of a key.
  @inlinable
  mutating func note(_ effect: WriteEffect, on key: HashedKey<Key>) {
    guard effect != .maintenance, var state = watched[key] else { return }
    state.version.changes &+= 1
    if effect == .replacement { state.version.ends &+= 1 }
    watched[key] = state
  }

  /// Notes that a load fetches a key anew. A write may have taken the entry of an earlier flight, so that the load does
  /// not find that flight.
  @inlinable
  mutating func noteFetchAnew(on key: HashedKey<Key>) {
    if isEmpty { return }
    watched[key]?.version.ends &+= 1
  }

  /// Notes that every key was removed, or may have been.
  // Specialized for the key, as `endEdits`: a clear calls both for each shard, and unspecialized code looks up types
  // even if no key is watched.
  @inlinable
  mutating func noteRemovalOfAll() {
    if isEmpty { return }
    for key in watched.keys { note(.replacement, on: key) }
  }

  /// Notes that every key was removed in place of those that an invalidation concerns.
  ///
  /// A fetch that began before is not stored. A writer reads again only if the removal took the value that it read:
  /// otherwise, a writer whose own code invalidates keys would never end.
  ///
  /// - Parameter read: The keys whose current value a writer has read.
  @usableFromInline
  mutating func noteWidenedRemoval(ofRead read: some Sequence<HashedKey<Key>>) {
    if isEmpty { return }
    for key in watched.keys { watched[key]?.version.ends &+= 1 }
    let edited = watched.keys.filter { watched[$0]?.isEdited == true }
    for key in Set(read).union(edited) { watched[key]?.version.changes &+= 1 }
  }

  /// Notes that a removal of all keys took the value that a writer has read before. The removal has ended the fetches
  /// already.
  @usableFromInline
  mutating func noteRemovedRead(of key: HashedKey<Key>) {
    watched[key]?.version.changes &+= 1
  }

  /// Notes that no key has unconfirmed edits any more.
  @inlinable
  mutating func endEdits() {
    if isEmpty { return }
    for key in watched.keys { watched[key]?.isEdited = false }
  }

  /// Notes that the unconfirmed edits of a watched key begin or end.
  @usableFromInline
  mutating func setEdited(_ isEdited: Bool, _ key: HashedKey<Key>) {
    watched[key]?.isEdited = isEdited
  }
}
