/// The value of a key that an observer was last shown. It determines which changes show another value. A pure data
/// structure.
struct ShownValue<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The current value of the key, and the number of the newest change that it includes.
  typealias Current = (value: Value?, number: ChangeNumber)

  /// The shown state of the key.
  private enum State {
    /// No state was shown. The payload is the number of the newest invalidation since the registration.
    case nothing(invalidation: ChangeNumber?)
    case absence
    case value
    /// A value, and a later invalidation of many keys. The next change of the key states whether it concerned the key.
    case valueInDoubt
  }

  private var state = State.nothing(invalidation: nil)
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
  ///   - current: Looks up the current value. Nil if the cache is gone.
  /// - Returns: The value in an optional; nil for no new value.
  mutating func take(_ change: Change<Key, Value>, current: () -> (Value?, ChangeNumber)?) -> Value?? {
    if let number, change.changeNumber <= number { return nil }
    let wasAbsent = isAbsent
    if case .invalidated = change.event {
      // The invalidation may not concern this key. A value that was written after it has a separate change.
      guard case (nil, let newest)? = current() else { return nil }
      begin(with: nil, number: newest)
    } else {
      begin(with: change.value, number: change.changeNumber)
    }
    return wasAbsent && isAbsent ? nil : .some(change.value)
  }

  private var isAbsent: Bool { if case .absence = state { true } else { false } }
}

// MARK: Observers that miss no value

extension ShownValue {
  /// Returns the values to show after a change, in their order.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - current: Looks up the current value. Nil if the cache is gone, or if the observer has not yet received all
  ///     changes that the value includes. Then the value can be that of a later change, and so can its absence.
  /// - Returns: The values; nil for no value of the key.
  mutating func takeEach(_ change: Change<Key, Value>, current: () -> Current?) -> [Value?] {
    if let number, change.changeNumber <= number { return [] }
    guard case .invalidated = change.event else { return takeEach(change) }
    switch state {
    case .nothing: state = .nothing(invalidation: change.changeNumber)
    case .absence: break
    case .value, .valueInDoubt: return resolveDoubt(current())
    }
    return []
  }

  /// Returns the values to show after a change that is no invalidation.
  private mutating func takeEach(_ change: Change<Key, Value>) -> [Value?] {
    let former = state
    begin(with: change.value, number: change.changeNumber)
    switch (former, change.event) {
    case (.valueInDoubt, .inserted(_, let value)): return [nil, value]
    case (.absence, .removed), (.absence, .cleared): return []
    default: return [change.value]
    }
  }

  /// Returns the values to show after the initial value, which was read after the registration. Changes since can
  /// precede it.
  ///
  /// - Parameters:
  ///   - initial: The initial value.
  ///   - current: As in ``takeEach(_:current:)``.
  /// - Returns: The values; nil for no value of the key.
  mutating func takeInitial(_ initial: Current, current: () -> Current?) -> [Value?] {
    switch state {
    case .absence, .value: return []
    // The invalidation may have been left in doubt only because the initial value was still waiting.
    case .valueInDoubt: return resolveDoubt(current())
    case .nothing(let invalidation):
      begin(with: initial.value, number: initial.number)
      guard initial.value != nil, let invalidation, invalidation > initial.number else { return [initial.value] }
      return [initial.value] + resolveDoubt(current())
    }
  }

  /// Returns the absence to show if the current value is absent. Leaves the shown value in doubt if the current one is
  /// not known.
  private mutating func resolveDoubt(_ current: Current?) -> [Value?] {
    guard let current else {
      state = .valueInDoubt
      return []
    }
    begin(with: current.value, number: current.number)
    return current.value == nil ? [nil] : []
  }
}
