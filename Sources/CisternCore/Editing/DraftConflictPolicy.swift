/// The resolution of conflicts: the result for a key that the draft wrote and that has changed below since the draft
/// first used it.
public struct DraftConflictPolicy<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  enum Decision: Sendable {
    case theirs
    case mine
    case `throw`
    case merge(@Sendable (DraftConflict<Key, Value>) throws -> Value?)
  }

  let decision: Decision

  /// Keeps the value below, and drops the draft's write of the key.
  public static var theirs: DraftConflictPolicy { DraftConflictPolicy(decision: .theirs) }

  /// Applies the draft's write.
  public static var mine: DraftConflictPolicy { DraftConflictPolicy(decision: .mine) }

  /// Saves nothing and throws.
  public static var `throw`: DraftConflictPolicy { DraftConflictPolicy(decision: .throw) }

  /// Stores the value that `resolve` returns, or removes the key if it returns nil. If `resolve` throws, nothing is
  /// saved and the save throws.
  ///
  /// - Parameter resolve: A closure that combines both values. It is called outside all locks, and again if a key of
  ///   the draft changes during the save. It must not write a key that the draft wrote: the save would not end.
  /// - Returns: The policy.
  public static func merge(
    _ resolve: @escaping @Sendable (DraftConflict<Key, Value>) throws -> Value?
  ) -> DraftConflictPolicy {
    DraftConflictPolicy(decision: .merge(resolve))
  }

  var isMerge: Bool { if case .merge = decision { true } else { false } }

  /// If the policy is to throw, throws an error with all keys in conflict.
  func check(_ draft: DraftState<Key, Value>, isConflict: (Key) -> Bool) throws(CisternError) {
    guard case .throw = decision else { return }
    let keys = draft.batch.keys.filter { isConflict($0) }
    if !keys.isEmpty { throw DraftConflictError(keys: keys).wrapped }
  }
}
