/// Tells whether what concurrent callers saw of an object can be explained by a sequential one: every operation took
/// effect at one instant between its call and its return, and in the order of these instants each found what the model
/// says.
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
/// For the reads and writes of a cache's key, ``HistoryChecker`` is simpler and faster.
///
/// The search is Wing and Gong's ("Testing and verifying concurrent objects", 1993), which tries each operation that may
/// come next, with Lowe's improvement ("Testing for linearizability", 2017): a set of operations and the state after it
/// are tried once, in whatever order the operations were. It is what Porcupine does. The problem is NP-complete; with
/// few callers, whose operations all return, the time is nearly linear in the number of operations. Check each key by
/// itself: an object is linearizable if and only if its independent parts are.
public enum LinearizabilityChecker {
  /// What became of a check.
  public enum Verdict<Model: SequentialModel>: Sendable {
    /// An order explains everything.
    case linearizable
    /// None does.
    case contradiction(Contradiction<Model>)
    /// So many steps were not enough to tell.
    case undecided(steps: Int)
  }

  /// How far an order can explain a history that none explains.
  public struct Contradiction<Model: SequentialModel>: Sendable {
    /// The longest order of operations that the model allows.
    public let explained: [TimedOperation<Model.Operation>]
    /// The state after it.
    public let state: Model.State
    /// What was under way then: of these one had to come next, and none can.
    public let unexplained: [TimedOperation<Model.Operation>]
  }

  /// Looks for an order that explains a history.
  ///
  /// - Parameters:
  ///   - history: the operations on one object, in any order.
  ///   - model: what the object does.
  ///   - stepLimit: after how many steps to give up.
  public static func check<Model: SequentialModel>(
    _ history: [TimedOperation<Model.Operation>], against model: Model, stepLimit: Int = 10_000_000
  ) -> Verdict<Model> {
    var search = LinearizabilitySearch(history, model)
    return search.run(stepLimit: stepLimit)
  }
}

extension LinearizabilityChecker.Verdict {
  /// Whether an order explains everything.
  public var isLinearizable: Bool { if case .linearizable = self { true } else { false } }
}

extension LinearizabilityChecker.Verdict: CustomStringConvertible {
  /// The verdict; for a contradiction with the last operations that can be explained, and those that cannot.
  public var description: String {
    switch self {
    case .linearizable: "linearizable"
    case .undecided(let steps): "undecided after \(steps) steps"
    case .contradiction(let contradiction): "not linearizable: \(contradiction)"
    }
  }
}

extension LinearizabilityChecker.Contradiction: CustomStringConvertible {
  /// The last operations that can be explained, the state after them, and those that cannot.
  public var description: String {
    let before = explained.suffix(8).map(\.description).joined(separator: ", ")
    let after = unexplained.map(\.description).joined(separator: ", ")
    return "after \(before.isEmpty ? "nothing" : before) the state is \(state), and then none of \(after) can come"
  }
}
