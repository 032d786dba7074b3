/// The behavior of an object that one caller uses at a time. A ``LinearizabilityChecker`` compares histories with
/// it.
public protocol SequentialModel<State, Operation>: Sendable {
  /// The state of the object between two operations. Equal states must have the same future behavior.
  associatedtype State: Hashable & Sendable
  /// An operation of a caller, together with its result.
  associatedtype Operation: Sendable

  /// The state before the first operation.
  var initialState: State { get }

  /// Applies one operation to the state.
  ///
  /// - Parameters:
  ///   - operation: The operation, with the result that its caller saw.
  ///   - state: The state before the operation. The method changes it to the state after the operation. If the
  ///     method returns false, the new state has no meaning.
  /// - Returns: Whether the operation can have this result in this state.
  func apply(_ operation: Operation, to state: inout State) -> Bool
}
