/// The kind of a write of one key, with the options that its ``WriteDecision`` depends on. Contains no keys and no
/// values.
@usableFromInline
enum WriteIntent: Sendable, Hashable {
  /// A value is set, is fetched, or is made of the cached one.
  case store(effect: WriteEffect, isAnnounced: Bool)
  /// A caller removes the key.
  ///
  /// `stagesAlways` stages the removal also for an absent key: an earlier removal may not be committed yet.
  case remove(stagesAlways: Bool)
  /// Unconfirmed edits show another value or have another confirmed value below them.
  case show(ShownWrite)
  /// The value of a record is put into memory.
  ///
  /// `keepsFlight` leaves the flight of the key in progress. `rewriting` tells why the record is written again; nil for
  /// no reason.
  case promote(keepsFlight: Bool, rewriting: RewriteReason?)
  /// A record that cannot be used is removed.
  ///
  /// `isCounted` is false for a write that replaces the value, and looks at the record only for observers.
  case discard(DiscardReason, isCounted: Bool)
  /// The lifetime of the value in memory has ended.
  ///
  /// `isCounted` is as for ``discard(_:isCounted:)``.
  case expire(isCounted: Bool)
  /// The record of a key is written again with a new time of its last use.
  case noteUse
  /// The second tier lost the record of a key.
  case loseRecord(LossCause)
}

/// The options of a write that changes what unconfirmed edits show.
@usableFromInline
struct ShownWrite: Sendable, Hashable {
  /// The meaning of the write for the writers and fetches that began before it.
  @usableFromInline var effect = WriteEffect.replacement
  /// The change of the confirmed value; nil if it stays.
  @usableFromInline var confirmation: Confirmation?
  /// Whether edits are pending after the write. Their value is kept beside memory.
  @usableFromInline var isPending: Bool
  /// Whether the key has a value for readers after the write.
  @usableFromInline var hasValue: Bool
  /// Whether observers are notified.
  @usableFromInline var isAnnounced: Bool
  /// The reason of the removal, if the key has no value after the write.
  @usableFromInline var removalCause = RemovalCause.explicit

  /// A change of the confirmed value below edits.
  @usableFromInline
  enum Confirmation: Sendable, Hashable, CaseIterable {
    /// It has another value.
    case stored
    /// It had a value and has none now.
    case removed
    /// It had no value and has none now.
    case stillAbsent
    /// Its lifetime was zero, so that it has no value.
    case refused
  }

  @usableFromInline
  init(isPending: Bool, hasValue: Bool, isAnnounced: Bool) {
    self.isPending = isPending
    self.hasValue = hasValue
    self.isAnnounced = isAnnounced
  }
}

/// The reason why a record is written again when it is promoted.
@usableFromInline
enum RewriteReason: Sendable, Hashable, CaseIterable {
  /// An older version of the schema wrote it.
  case migration
  /// It has a new time of its last use.
  case use
}

/// The reason why a record is removed when it is read.
@usableFromInline
enum DiscardReason: Sendable, Hashable, CaseIterable {
  /// Its lifetime has ended.
  case expired
  /// The codec cannot decode it.
  case undecodable
  /// An older version of the schema wrote it, and it was not migrated.
  case outdated
}

/// The reason why the second tier lost a record.
@usableFromInline
enum LossCause: Sendable, Hashable, CaseIterable {
  /// It made room for others.
  case evicted
  /// It was damaged, or could not be written.
  case failed
}

extension WriteIntent {
  /// Whether the value of the write is newer than the invalidations up to now. A rewritten record is as old as it was.
  @inlinable
  var storesNewValue: Bool {
    switch self {
    case .store, .show: true
    case .remove, .promote, .discard, .expire, .noteUse, .loseRecord: false
    }
  }
}
