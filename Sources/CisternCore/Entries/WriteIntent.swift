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
  case noteRecordLoss(LossCause)
}

extension WriteIntent {
  /// Whether the value of the write is newer than the invalidations up to now. A rewritten record is as old as it was.
  @inlinable
  var storesNewValue: Bool {
    switch self {
    case .store, .show: true
    case .remove, .promote, .discard, .expire, .noteUse, .noteRecordLoss: false
    }
  }

  /// Whether the decision on a write of a batch depends on the record also in a cache without observers.
  @inlinable
  var dependsOnRecord: Bool {
    switch self {
    case .remove, .store(effect: .maintenance, _): true
    case .store, .show, .promote, .discard, .expire, .noteUse, .noteRecordLoss: false
    }
  }
}
