/// The versions of those keys that somebody watches: a write that depends on what it read applies only while the key's
/// version is the one it read. Pure; its shard has the lock.
///
/// Keys are told apart by their fingerprints. Two that share one see each other's writes, which costs them another try
/// each. Keys that nobody watches cost nothing.
@usableFromInline
struct KeyVersions {
  /// How often a key was written since somebody began to watch it.
  @usableFromInline
  struct Version: Sendable, Hashable {
    /// Every change of its value, by whatever cause.
    @usableFromInline var changes: UInt32 = 0
    /// Those after which nothing that began before may be stored: removals, and replacements that are not merged.
    @usableFromInline var ends: UInt32 = 0

    @inlinable
    init(changes: UInt32 = 0, ends: UInt32 = 0) {
      self.changes = changes
      self.ends = ends
    }
  }

  @usableFromInline
  struct Watched {
    var watchers = 0
    /// No fetch of the key that watches it is older; the greatest number if none does.
    var oldestFlight = UInt64.max
    @usableFromInline var version = Version()
    /// Whether edits that are not confirmed lie over its value. Kept by the watchers that those edits are.
    @usableFromInline var isEdited = false
  }

  @usableFromInline var watched: [UInt32: Watched] = [:]

  init() {}

  @inlinable
  var isEmpty: Bool { watched.isEmpty }

  var count: Int { watched.count }

  /// What is known of a key; nil where nobody watches it.
  @usableFromInline
  subscript(fingerprint: UInt32) -> Watched? { watched[fingerprint] }

  /// A writer watches the key, until ``unwatch(_:)``.
  ///
  /// - Parameter era: the newest invalidation when a fetch began, if the writer is one.
  @usableFromInline
  mutating func watch(_ fingerprint: UInt32, fetchedSince era: UInt64 = .max) {
    var key = watched[fingerprint] ?? Watched()
    key.watchers += 1
    key.oldestFlight = min(key.oldestFlight, era)
    watched[fingerprint] = key
  }

  /// No fetch that watches a key is older. O(n) for n watched keys.
  @usableFromInline
  var oldestFlight: UInt64 { watched.values.reduce(.max) { min($0, $1.oldestFlight) } }

  @usableFromInline
  mutating func unwatch(_ fingerprint: UInt32) {
    guard var key = watched[fingerprint] else { preconditionFailure("nobody watches the key") }
    key.watchers -= 1
    watched[fingerprint] = key.watchers == 0 ? nil : key
  }

  /// A key was written.
  @usableFromInline
  mutating func note(_ effect: WriteEffect, on fingerprint: UInt32) {
    guard effect != .upkeep, watched[fingerprint] != nil else { return }
    watched[fingerprint]?.version.changes &+= 1
    if effect == .replacement { watched[fingerprint]?.version.ends &+= 1 }
  }

  /// Every key was removed, or may have been.
  @usableFromInline
  mutating func noteRemovalOfAll() {
    if isEmpty { return }
    for fingerprint in watched.keys { note(.replacement, on: fingerprint) }
  }

  /// No unconfirmed edits are left, over any key.
  @usableFromInline
  mutating func endEdits() {
    if isEmpty { return }
    for fingerprint in watched.keys { setEdited(false, fingerprint) }
  }

  /// Unconfirmed edits begin or end to lie over a key that is watched.
  @usableFromInline
  mutating func setEdited(_ isEdited: Bool, _ fingerprint: UInt32) {
    watched[fingerprint]?.isEdited = isEdited
  }
}

/// What a write means for the unconfirmed edits of its key.
@usableFromInline
enum EditMark: Sendable, Hashable {
  /// Nothing.
  case unchanged
  /// They are over.
  case ended
  /// They show what is written; settled where none is left. A flight on its way goes on if the confirmed value is as
  /// it was: what it brings lies below them.
  case shown(isSettled: Bool, keepsFlight: Bool)
}

/// What a write means for those who began something before it.
@usableFromInline
enum WriteEffect: Sendable, Hashable {
  /// The key is removed, or its value replaced: nothing that began before is stored.
  case replacement
  /// A value arrives that others are merged with: what began before is merged under it.
  case arrival
  /// The key's value is the same as before, or went by itself: promoted, expired, damaged.
  case upkeep
}
