/// A checker that decides whether a sequential model explains a concurrent history of an object.
///
/// A model explains a history if every operation can take effect at one instant between its call and its return. In
/// the order of these instants, each operation must have the result that the model gives.
///
///     struct Counter: SequentialModel {
///       enum Operation { case incremented, read(Int) }
///       let initialState = 0
///       func apply(_ operation: Operation, to count: inout Int) -> Bool {
///         switch operation {
///         case .incremented: count += 1
///         case .read(let found): return found == count
///         }
///         return true
///       }
///     }
///     let verdict = LinearizabilityChecker.check([
///       .init(.incremented, called: 0, returned: 1),
///       .init(.read(0), called: 2, returned: 3),     // no order explains this
///     ], against: Counter())
///
/// For reads and writes of one key of a cache, ``HistoryChecker`` is simpler and faster.
///
/// The algorithm is that of Wing and Gong ("Testing and verifying concurrent objects", 1993): it tries each
/// operation that can come next. It includes the improvement of Lowe ("Testing for linearizability", 2017): it
/// tries each pair of a set of operations and the state after them only once. Porcupine uses the same algorithm.
///
/// The problem is NP-complete. With few callers whose operations all return, the time is nearly linear in the
/// number of operations. Check each key separately: an object is linearizable if and only if its independent parts
/// are.
public enum LinearizabilityChecker {
  /// The result of a check.
  public enum Verdict<Model: SequentialModel>: Sendable {
    /// The model explains the history.
    case linearizable
    /// The model does not explain the history.
    case contradiction(Contradiction<Model>)
    /// The search reached its step limit without a result.
    case undecided(steps: Int)
  }

  /// The longest part of a history that a model explains, and the operations that cannot follow it.
  public struct Contradiction<Model: SequentialModel>: Sendable {
    /// The longest order of operations that the model allows.
    public let explained: [TimedOperation<Model.Operation>]
    /// The state of the model after these operations.
    public let state: Model.State
    /// The operations that were in progress at that time. One of them must come next, but the model allows none.
    public let unexplained: [TimedOperation<Model.Operation>]
  }

  /// Searches for an order of operations that explains a history.
  ///
  /// - Parameters:
  ///   - history: The operations on one object, in any order.
  ///   - model: The sequential behavior of the object.
  ///   - stepLimit: The maximum number of steps of the search.
  /// - Returns: The verdict. It is `.undecided` if the search reached the step limit.
  /// - Complexity: Exponential in the number of operations in the worst case, but limited by `stepLimit`.
  public static func check<Model: SequentialModel>(
    _ history: [TimedOperation<Model.Operation>], against model: Model, stepLimit: Int = 10_000_000
  ) -> Verdict<Model> {
    var search = LinearizabilitySearch(history, model)
    return search.run(stepLimit: stepLimit)
  }
}

extension LinearizabilityChecker.Verdict {
  /// Whether the model explains the history.
  public var isLinearizable: Bool { if case .linearizable = self { true } else { false } }
}

extension LinearizabilityChecker.Verdict: CustomStringConvertible {
  /// The verdict. A contradiction includes the last operations that the model explains, and those that cannot
  /// follow.
  public var description: String {
    switch self {
    case .linearizable: "linearizable"
    case .undecided(let steps): "undecided after \(steps) steps"
    case .contradiction(let contradiction): "not linearizable: \(contradiction)"
    }
  }
}

extension LinearizabilityChecker.Contradiction: CustomStringConvertible {
  /// The last operations that the model explains, the state after them, and the operations that cannot follow.
  public var description: String {
    let before = explained.suffix(8).map(\.description).joined(separator: ", ")
    let after = unexplained.map(\.description).joined(separator: ", ")
    return "after \(before.isEmpty ? "nothing" : before) the state is \(state), and then none of \(after) can come"
  }
}
