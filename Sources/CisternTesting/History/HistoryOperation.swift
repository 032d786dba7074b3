/// One operation on one key, as its caller saw it: what it did or found, and when.
///
/// Times are of any clock that all callers share and that never goes back, for example nanoseconds, or a counter that
/// each call and each return increments. An operation that returned before another was called came before it; all
/// others are concurrent.
public struct HistoryOperation<Value: Hashable & Sendable>: Sendable, Hashable {
  /// What an operation did or found.
  public enum Kind: Sendable, Hashable {
    /// It gave the key this value: by a set, or by a load that fetched. No other operation writes it.
    ///
    /// A load's write is called when the load is (the one whose fetch ran, not when the fetch began): what is set or
    /// removed in between comes after it. It never returns, as far as is known, because its result may not be stored.
    case write(Value)
    /// It found this value.
    case read(Value)
    /// It found none. A cache may forget at any time, so this is wrong only where the value was surely there.
    case miss
    /// It removed the key.
    case removal
  }

  /// What it did or found.
  public let kind: Kind
  /// When it was called.
  public let called: UInt64
  /// When it returned; `UInt64.max` if it has not, or not that anyone knows: a write or removal that may or may not have
  /// happened.
  public let returned: UInt64

  /// Creates an operation. It must not return before it is called, and a read or miss must have returned.
  public init(_ kind: Kind, called: UInt64, returned: UInt64 = .max) {
    precondition(called <= returned, "an operation returns after it is called")
    switch kind {
    case .read, .miss: precondition(returned < .max, "what never returned has found nothing")
    case .write, .removal: break
    }
    self.kind = kind
    self.called = called
    self.returned = returned
  }
}

extension HistoryOperation: CustomStringConvertible {
  /// What it did or found, and when: "write(7) [12, 40]".
  public var description: String {
    "\(kind) [\(called), \(returned == .max ? "never" : "\(returned)")]"
  }
}
