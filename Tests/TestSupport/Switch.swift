import Locking

/// A value that a test sets and another thread reads.
package final class Switch<Value: Sendable>: Sendable {
  private let value = Guarded<Value?>(nil)

  package init() {}

  package func set(_ new: Value?) { value.withLock { $0 = new } }
  package func peek() -> Value? { value.withLock { $0 } }

  /// Returns the value and clears it.
  package func take() -> Value? {
    value.withLock { value in
      let taken = value
      value = nil
      return taken
    }
  }
}
