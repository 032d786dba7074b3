/// What becomes of a key that a draft wrote, and that has changed below the draft since it first read or wrote it.
public struct DraftConflictPolicy<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  enum Decision: Sendable {
    case theirs
    case mine
    case `throw`
    case merge(@Sendable (DraftConflict<Key, Value>) throws -> Value?)
  }

  let decision: Decision

  /// It stays as it is below; the draft's write of it is dropped.
  public static var theirs: DraftConflictPolicy { DraftConflictPolicy(decision: .theirs) }

  /// It gets what the draft wrote.
  public static var mine: DraftConflictPolicy { DraftConflictPolicy(decision: .mine) }

  /// Nothing is saved, and the save throws.
  public static var `throw`: DraftConflictPolicy { DraftConflictPolicy(decision: .throw) }

  /// It gets what `resolve` makes of both; nil removes it. When it throws, nothing is saved, and the save throws.
  ///
  /// Called outside all locks, and again if the key changes once more meanwhile.
  public static func merge(
    _ resolve: @escaping @Sendable (DraftConflict<Key, Value>) throws -> Value?
  ) -> DraftConflictPolicy {
    DraftConflictPolicy(decision: .merge(resolve))
  }

  var isMerge: Bool { if case .merge = decision { true } else { false } }

  /// Throws with all keys that are in conflict, where that is the policy.
  func check(_ draft: DraftState<Key, Value>, isConflict: (Key) -> Bool) throws(CisternError) {
    guard case .throw = decision else { return }
    let keys = draft.batch.keys.filter { isConflict($0) }
    if !keys.isEmpty { throw DraftConflictError(keys: keys).wrapped }
  }
}

/// A key that was changed both in a draft and below it.
public struct DraftConflict<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The key.
  public let key: Key
  /// The value that the draft first read; nil where there was none, or the draft wrote the key without having read it.
  public let original: Value?
  /// The value that is below the draft now; nil where it was removed.
  public let theirs: Value?
  /// The value that the draft has; nil where it removed it.
  public let mine: Value?
}

/// The cause of a `CisternError` that a draft's save throws when it has conflicts.
public struct DraftConflictError<Key: Hashable & Sendable>: Error, Sendable {
  /// The keys that the draft wrote and that have changed below it.
  public let keys: [Key]

  var wrapped: CisternError {
    let some = keys.prefix(5).map { "\($0)" }.joined(separator: ", ") + (keys.count > 5 ? ", …" : "")
    return CisternError(
      .conflict, "keys that the draft wrote have changed below it, so nothing was saved: \(some)",
      location: "saving a draft", cause: self)
  }
}
