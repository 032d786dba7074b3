/// One fetch from a ``ScriptedOrigin``.
public struct OriginCall<Key: Hashable & Sendable>: Sendable {
  /// The state of a fetch.
  public enum Outcome: Sendable, Hashable {
    /// The fetch is running.
    case running
    /// The fetch returned a value.
    case value
    /// The fetch threw an error.
    case failure
  }

  /// The key of the fetch.
  public let key: Key
  /// The number of the fetch among the fetches of its key, from 1.
  public let number: Int
  /// The priority of the fetch's task when the fetch began.
  public let priority: TaskPriority
  /// The priority of the fetch's task when the fetch ended.
  ///
  /// It is higher than ``priority`` if the task was escalated. While the fetch runs, it is equal to ``priority``.
  public internal(set) var finalPriority: TaskPriority
  /// Whether the fetch's task was cancelled before the fetch ended.
  public internal(set) var wasCancelled = false
  /// The state of the fetch.
  public internal(set) var outcome = Outcome.running
}
