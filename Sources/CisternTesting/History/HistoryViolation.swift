/// A contradiction in a history that no cache may show.
public struct HistoryViolation<Value: Hashable & Sendable>: Sendable {
  /// A kind of contradiction.
  public enum Kind: Sendable, Hashable {
    /// A read found a value that no operation wrote.
    case valueFromNowhere
    /// A read found a value and returned before the write of the value was called.
    case readBeforeWrite
    /// Two operations wrote the same value, so the history cannot be judged.
    case valueWrittenTwice
    /// A read found a value that had certainly been replaced by another one.
    case stale
    /// A read found a value after a removal or a miss that certainly came later than the value.
    case resurrected
  }

  /// The kind of the contradiction.
  public let kind: Kind
  /// The operations that contradict one another, in the order of their calls.
  public let operations: [HistoryOperation<Value>]
}

extension HistoryViolation: CustomStringConvertible {
  /// A sentence about the contradiction, with its operations.
  public var description: String {
    let contradiction =
      switch kind {
      case .valueFromNowhere: "a read returned a value that no operation wrote"
      case .readBeforeWrite: "a value was read before its write began"
      case .valueWrittenTwice: "a value was written twice, so that its reads cannot be told apart"
      case .stale: "a value was read after another had taken its place"
      case .resurrected: "a value was read after it was gone"
      }
    return "\(contradiction): " + operations.map(\.description).joined(separator: ", ")
  }
}
