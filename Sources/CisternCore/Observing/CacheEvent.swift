/// An event of a cache that is no change of a value: a failure, a timeout, or a new state of the circuit breaker.
///
/// Loggers and metrics consume these events: see ``Cache/events`` and ``Cache/observeEvents(_:)``.
public struct CacheEvent<Key: Hashable & Sendable>: Sendable {
  /// The kind of an event. Later versions have further kinds.
  public struct Kind: Sendable, Hashable, CustomStringConvertible {
    /// The name of the kind, for logs.
    public let description: String

    /// The fetch for a key failed in its last attempt.
    ///
    /// Each flight gives one such event, and a bulk load one for each key. A fetch that the circuit breaker rejected
    /// gives none.
    public static var fetchFailed: Kind { Kind(description: "fetch failed") }
    /// A fetch failed, and no caller gets the error.
    ///
    /// Each caller that receives the stale value instead gives one such event. A background refresh gives one. The
    /// error may be ``CisternError/Code/circuitOpen``.
    public static var refreshFailed: Kind { Kind(description: "refresh failed") }
    /// A caller waited for its soft or hard timeout (``CacheStatistics/timeouts``).
    public static var timedOut: Kind { Kind(description: "timed out") }
    /// The circuit breaker changed its state.
    public static var circuitChanged: Kind { Kind(description: "circuit changed") }
  }

  /// A change of the state of the circuit breaker.
  public struct CircuitChange: Sendable, Hashable {
    /// The state before the change.
    public let from: CircuitBreaker.State
    /// The state after the change.
    public let to: CircuitBreaker.State
  }

  /// The kind of the event, for code to switch on.
  public let kind: Kind
  /// The key that the event concerns; nil for an event of the whole cache.
  public private(set) var key: Key?
  /// The error of a failed fetch; nil for other events.
  public private(set) var error: (any Error)?
  /// The change of the circuit breaker's state; nil for other events.
  public private(set) var circuitChange: CircuitChange?
  /// The number of events that the sequence dropped before this one, because its buffer was full. Zero for a handler.
  public internal(set) var droppedCount = 0
  /// The place of the event in the order of the cache's events.
  var number = EventNumber()

  init(_ kind: Kind, _ key: Key, _ error: (any Error)? = nil) {
    self.kind = kind
    self.key = key
    self.error = error
  }

  init(circuitChange transition: CircuitState.Transition) {
    kind = .circuitChanged
    circuitChange = CircuitChange(from: transition.from, to: transition.to)
  }
}

extension CacheEvent: CustomStringConvertible {
  /// The kind, the key, the error and the states, on one line.
  public var description: String {
    var text = "\(kind)"
    if let key { text += " \(KeyDescription(key))" }
    if let error { text += ": \(error)" }
    if let circuitChange { text += " from \(circuitChange.from) to \(circuitChange.to)" }
    return text
  }
}
