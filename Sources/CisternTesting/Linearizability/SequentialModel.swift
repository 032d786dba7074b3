/// What an object does when one caller uses it at a time: the yardstick of a ``LinearizabilityChecker``.
public protocol SequentialModel<State, Operation>: Sendable {
  /// All that the object remembers between two operations. Equal states behave alike from then on.
  associatedtype State: Hashable & Sendable
  /// What a caller did, together with what it found or was told.
  associatedtype Operation: Sendable

  /// What it remembers before the first operation.
  var initialState: State { get }

  /// Lets one operation happen; whether it can have found, in this state, what it found. Where it cannot, what becomes
  /// of the state does not matter.
  func apply(_ operation: Operation, to state: inout State) -> Bool
}

/// An operation as its caller saw it: what it did and found, and when.
///
/// Times are of any clock that all callers share and that never goes back. An operation that returned before another was
/// called came before it; all others are concurrent.
public struct TimedOperation<Operation: Sendable>: Sendable {
  /// What was done and found.
  public let operation: Operation
  /// When it was called.
  public let called: UInt64
  /// When it returned; `UInt64.max` if it has not, or not that anyone knows: it may or may not have happened.
  public let returned: UInt64

  /// Creates an operation. It must not return before it is called.
  public init(_ operation: Operation, called: UInt64, returned: UInt64 = .max) {
    precondition(called <= returned, "an operation returns after it is called")
    self.operation = operation
    self.called = called
    self.returned = returned
  }
}

extension TimedOperation: Equatable where Operation: Equatable {}

extension TimedOperation: CustomStringConvertible {
  /// What was done, and when: "found(7) [12, 40]".
  public var description: String {
    "\(operation) [\(called), \(returned == .max ? "never" : "\(returned)")]"
  }
}
