/// The value of a key that an observer was last shown. It determines which changes show another value. A pure data
/// structure.
struct ShownValue<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The shown state of the key.
  private enum State {
    case nothing
    case absence
    case value
    /// A value, and a later invalidation of many keys. The next change of the key states whether it concerned the key.
    case valueInDoubt
  }

  private var state = State.nothing
  /// The number of the newest change that was shown; nil before the first.
  private var number: ChangeNumber?

  /// Whether a state was shown.
  var hasBegun: Bool { number != nil }

  /// Shows the current value, which includes all changes up to `number`.
  mutating func begin(with value: Value?, number: ChangeNumber) {
    self.number = number
    state = value == nil ? .absence : .value
  }

  /// Returns the value to show after a change; the outer optional is nil if the change shows nothing new. For an
  /// observer that can miss a value which another one replaces.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - current: Looks up the current value, and the number of the newest change that it includes. Nil if the cache is
  ///     gone.
  /// - Returns: The value in an optional; nil for no new value.
  mutating func take(_ change: Change<Key, Value>, current: () -> (Value?, ChangeNumber)?) -> Value?? {
    if let number, change.place <= number { return nil }
    let former = state
    if case .invalidated = change.event {
      // The invalidation may not concern this key. A value that was written after it has a separate change.
      guard case (nil, let newest)? = current() else { return nil }
      begin(with: nil, number: newest)
    } else {
      begin(with: change.value, number: change.place)
    }
    return former == .absence && state == .absence ? nil : .some(change.value)
  }

  /// Returns the values to show after a change, in their order. For an observer that misses no value.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - current: The current value, and the number of the newest change that it includes. Required for an
  ///     invalidation, unless the cache is gone.
  ///   - isLast: Whether the observer has received all changes that `current` includes.
  /// - Returns: The values; nil for no value of the key.
  mutating func takeEach(
    _ change: Change<Key, Value>, current: (value: Value?, number: ChangeNumber)?, isLast: Bool
  ) -> [Value?] {
    if let number, change.place <= number { return [] }
    guard case .invalidated = change.event else { return takeEach(change) }
    switch state {
    case .absence: return []
    case .nothing:
      guard let current else { return [] }
      begin(with: current.value, number: current.number)
      return [current.value]
    case .value, .valueInDoubt:
      // The current value can be that of a later change, and so can its absence.
      guard isLast, let current else {
        state = .valueInDoubt
        return []
      }
      begin(with: current.value, number: current.number)
      return current.value == nil ? [nil] : []
    }
  }

  /// Returns the values to show after a change that is no invalidation.
  private mutating func takeEach(_ change: Change<Key, Value>) -> [Value?] {
    let former = state
    begin(with: change.value, number: change.place)
    switch (former, change.event) {
    case (.valueInDoubt, .inserted(_, let value)): return [nil, value]
    case (.absence, .removed), (.absence, .cleared): return []
    default: return [change.value]
    }
  }
}
