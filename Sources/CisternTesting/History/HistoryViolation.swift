/// Something that callers saw and that no cache may show, whatever it forgets.
public struct HistoryViolation<Value: Hashable & Sendable>: Sendable {
  /// What is wrong.
  public enum Kind: Sendable, Hashable {
    /// A read found a value that nobody wrote.
    case valueFromNowhere
    /// A read found a value and returned before its write was called.
    case readBeforeWrite
    /// Two operations wrote the same value: the history cannot be judged.
    case valueWrittenTwice
    /// A value was read although another had surely taken its place.
    case stale
    /// A value was read although it had surely been removed or missed in between.
    case resurrected
  }

  /// What is wrong.
  public let kind: Kind
  /// The operations that contradict one another, in the order of their calls.
  public let operations: [HistoryOperation<Value>]
}

extension HistoryViolation: CustomStringConvertible {
  /// What is wrong, in a sentence, with the operations that show it.
  public var description: String {
    let what =
      switch kind {
      case .valueFromNowhere: "a value was read that nobody wrote"
      case .readBeforeWrite: "a value was read before its write began"
      case .valueWrittenTwice: "a value was written twice, so that its reads cannot be told apart"
      case .stale: "a value was read after another had taken its place"
      case .resurrected: "a value was read after it was gone"
      }
    return "\(what): " + operations.map(\.description).joined(separator: ", ")
  }
}
