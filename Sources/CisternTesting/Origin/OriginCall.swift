/// One fetch that a ``ScriptedOrigin`` was asked for.
public struct OriginCall<Key: Hashable & Sendable>: Sendable {
  /// How a fetch ended.
  public enum Outcome: Sendable, Hashable {
    /// It runs.
    case running
    /// It gave a value.
    case value
    /// It threw.
    case failure
  }

  /// The key.
  public let key: Key
  /// Its number among the fetches of this key, from 1.
  public let number: Int
  /// The priority of its task when it began.
  public let priority: TaskPriority
  /// The priority of its task when it ended: higher than ``priority`` if it was escalated. As it began while it runs.
  public internal(set) var finalPriority: TaskPriority
  /// Whether its task was cancelled before it ended.
  public internal(set) var wasCancelled = false
  /// How it ended.
  public internal(set) var outcome = Outcome.running
}
