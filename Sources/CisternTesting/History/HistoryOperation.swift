/// One operation on one key, as its caller saw it.
///
/// All callers share one clock that never goes back: for example, nanoseconds, or a counter that each call and each
/// return increments. If an operation returned before another one was called, it precedes the other one. All other
/// operations are concurrent.
public struct HistoryOperation<Value: Hashable & Sendable>: Sendable, Hashable {
  /// The effect or the result of an operation.
  public enum Kind: Sendable, Hashable {
    /// A set, or a load that fetched, wrote this value to the key. No other operation writes the value.
    ///
    /// The call time of a load's write is the call of the load whose fetch ran, not the start of the fetch. A write
    /// or removal between these times comes after the load's write. The return time is `UInt64.max`, because the
    /// cache may not store the result.
    case write(Value)
    /// A read found this value.
    case read(Value)
    /// A read found no value. A cache can lose a value at any time, so a miss is wrong only if the key certainly
    /// had a value.
    case miss
    /// A removal of the key.
    case removal
  }

  /// The effect or the result of the operation.
  public let kind: Kind
  /// The time of the call.
  public let called: UInt64
  /// The time of the return. It is `UInt64.max` if the operation has not returned, or if the time is unknown. Such
  /// a write or removal may not have taken effect.
  public let returned: UInt64

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - kind: The effect or the result of the operation.
  ///   - called: The time of the call.
  ///   - returned: The time of the return, or `UInt64.max` if it is unknown.
  /// - Precondition: The call is not later than the return. A read or a miss has returned.
  public init(_ kind: Kind, called: UInt64, returned: UInt64 = .max) {
    precondition(called <= returned, "an operation returns after it is called")
    switch kind {
    case .read, .miss: precondition(returned < .max, "a read or a miss must have returned")
    case .write, .removal: break
    }
    self.kind = kind
    self.called = called
    self.returned = returned
  }
}

extension HistoryOperation: CustomStringConvertible {
  /// The kind of the operation with its times: "write(7) [12, 40]".
  public var description: String {
    "\(kind) [\(called), \(returned == .max ? "never" : "\(returned)")]"
  }
}
