/// The condition under which a write applies to an entry.
@usableFromInline
enum WriteCondition<Value: Sendable> {
  /// The write always applies. Used by removals.
  case always
  /// The write applies if the key has no unconfirmed edits. Used by sets.
  case unedited
  /// The write applies if the watched key still has this version: the write depends on a value that was read with it.
  /// If a flight is given, the entry must also belong to that flight.
  case unchanged(since: KeyVersion, of: Flight<Value>? = nil)
  /// The write applies if the entry belongs to this flight. Used by the flight's own result.
  case own(Flight<Value>)
  /// The write applies if the entry belongs to this flight, and no older fetch has changed the record of the key since
  /// the flight began. Used by promotions of the flight's leader.
  case leading(Flight<Value>)
  /// The write applies if the entry belongs to this flight, and the watched key still has the version that the flight
  /// read. Used by a fetch that confirms the value that was read, which may have left memory since.
  case keeping(Flight<Value>, since: KeyVersion)
  /// As ``unchanged(since:of:)``, for a write of a flight below unconfirmed edits.
  ///
  /// The edits can show another value than the fetched one, or none. `fetchedTags` are the tags of the fetched one,
  /// which are compared with invalidations; nil if the write removes the value.
  case belowEdits(Flight<Value>, since: KeyVersion, fetchedTags: [String]?)
  /// The write applies if the key is absent and still has this write version. Used by promotions.
  ///
  /// `invalidationVersion` is the invalidation version before the record was read. The record may be older than later
  /// invalidations.
  case untouched(writeVersion: WriteVersion, invalidationVersion: InvalidationVersion = .max)
  /// The write applies if memory holds no value of the key, and the key still has this write version. A flight may be
  /// in progress. Used by removals of records.
  case unheld(writeVersion: WriteVersion)
  /// The write applies if the entry's value is past its grace period at this time.
  case expired(at: MonotonicTime)
  /// As ``leading(_:)``, if the entry also holds no value. Used by a promotion that keeps the flight.
  ///
  /// `invalidationVersion` is the invalidation version before the record was read. The record may be older than later
  /// invalidations.
  case beside(Flight<Value>, invalidationVersion: InvalidationVersion)
  /// The write applies if the entry holds the value whose last access is this object, and the second tier has the
  /// value. Used by writes of last access times.
  case inUse(LastAccess)
}

extension WriteCondition {
  /// The flight that the entry must belong to; nil for none. The write of ``beside(_:invalidationVersion:)`` only keeps
  /// its flight.
  @inlinable
  var flight: Flight<Value>? {
    switch self {
    case .own(let flight), .leading(let flight), .keeping(let flight, _), .belowEdits(let flight, _, _): flight
    case .unchanged(_, let flight): flight
    case .always, .unedited, .untouched, .unheld, .expired, .beside, .inUse: nil
    }
  }

  /// The flight that is notified if the second tier loses the record that was read for this write.
  @usableFromInline
  var witness: Flight<Value>? {
    if case .beside(let flight, _) = self { flight } else { self.flight }
  }

  /// Whether the value was fetched or read from the second tier. False for a value that a caller sets.
  @inlinable
  var isFetched: Bool {
    switch self {
    case .untouched, .beside: true
    case .belowEdits: fetchedTags != nil
    case .always, .unedited, .unheld, .expired, .inUse, .unchanged, .own, .leading, .keeping: flight != nil
    }
  }

  /// Whether the write is a set, which depends on no value of the key.
  @inlinable
  var isSet: Bool { if case .unedited = self { true } else { false } }

  /// The invalidation version when the value's fetch or read began; nil for a value that a caller sets now.
  @inlinable
  var invalidationVersion: InvalidationVersion? {
    switch self {
    case .untouched(_, let invalidationVersion), .beside(_, let invalidationVersion): invalidationVersion
    // The shown value is not a fetched one. If it were compared as one, a removal could be tried again without end.
    case .belowEdits(let flight, _, let fetchedTags): fetchedTags == nil ? nil : flight.invalidationVersion
    case .always, .unedited, .unheld, .expired, .inUse, .unchanged, .own, .leading, .keeping:
      flight?.invalidationVersion
    }
  }

  /// The tags of a fetched value below unconfirmed edits; nil for other writes.
  @inlinable
  var fetchedTags: [String]? { if case .belowEdits(_, _, let tags) = self { tags } else { nil } }
}
