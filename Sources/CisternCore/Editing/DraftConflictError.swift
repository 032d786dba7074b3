/// The cause of a `CisternError` that a draft's save throws for conflicts.
public struct DraftConflictError<Key: Hashable & Sendable>: Error, Sendable {
  /// The keys that the draft wrote and that have changed below it. Empty in the error of a log that leaves out keys.
  public let keys: [Key]
  /// The number of keys that the error of a log leaves out; nil if it has the keys.
  private let omittedCount: Int?

  init(keys: [Key]) {
    self.keys = keys
    omittedCount = nil
  }

  private init(omitting count: Int) {
    keys = []
    omittedCount = count
  }

  var wrapped: CisternError {
    CisternError(
      .conflict, "keys that the draft wrote changed outside the draft, so it was not saved", location: "saving a draft",
      cause: self)
  }
}

extension DraftConflictError: CustomStringConvertible {
  /// The first of the keys, or their number if they are left out.
  public var description: String {
    if let omittedCount { return omittedCount == 1 ? "1 conflicting key" : "\(omittedCount) conflicting keys" }
    return "conflicting keys: " + keys.prefix(5).map { "\(KeyDescription($0))" }.joined(separator: ", ")
      + (keys.count > 5 ? ", …" : "")
  }
}

extension DraftConflictError: KeyedError {
  package var withoutKey: any Error { DraftConflictError(omitting: omittedCount ?? keys.count) }
}
