/// An operation as its caller saw it, with the times of its call and its return.
///
/// All callers share one clock that never goes back. If an operation returned before another one was called, it
/// precedes the other one. All other operations are concurrent.
public struct TimedOperation<Operation: Sendable>: Sendable {
  /// The operation, with its result.
  public let operation: Operation
  /// The time of the call.
  public let called: UInt64
  /// The time of the return. It is `UInt64.max` if the operation has not returned, or if the time is unknown. Such
  /// an operation may not have taken effect.
  public let returned: UInt64

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation, with its result.
  ///   - called: The time of the call.
  ///   - returned: The time of the return, or `UInt64.max` if it is unknown.
  /// - Precondition: The call is not later than the return.
  public init(_ operation: Operation, called: UInt64, returned: UInt64 = .max) {
    precondition(called <= returned, "an operation returns after it is called")
    self.operation = operation
    self.called = called
    self.returned = returned
  }
}

extension TimedOperation: Equatable where Operation: Equatable {}

extension TimedOperation: CustomStringConvertible {
  /// The operation with its times: "found(7) [12, 40]".
  public var description: String {
    "\(operation) [\(called), \(returned == .max ? "never" : "\(returned)")]"
  }
}
