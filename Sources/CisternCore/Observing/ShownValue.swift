/// The value of a key that an observer was last shown. It determines which changes show another value. A pure data
/// structure.
struct ShownValue<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The number of the newest change that was shown; nil before the first.
  private var number: ChangeNumber?
  /// Whether the shown state is the absence of a value. A removal that changes nothing for the observer is not
  /// shown.
  private var isAbsent = false

  /// Whether a state was shown.
  var hasBegun: Bool { number != nil }

  /// Shows the current value, which includes all changes up to `number`.
  mutating func begin(with value: Value?, number: ChangeNumber) {
    self.number = number
    isAbsent = value == nil
  }

  /// Returns the value to show after a change; the outer optional is nil if the change shows nothing new.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - current: Looks up the current value, and the number of the newest change that it includes. Nil if the cache is
  ///     gone.
  /// - Returns: The value in an optional; nil for no new value.
  mutating func take(_ change: Change<Key, Value>, current: () -> (Value?, ChangeNumber)?) -> Value?? {
    if let number, change.place <= number { return nil }
    let wasAbsent = hasBegun && isAbsent
    if case .invalidated = change.event {
      // The invalidation may not concern this key. A value that was written after it has a separate change.
      guard case (nil, let newest)? = current() else { return nil }
      begin(with: nil, number: newest)
    } else {
      begin(with: change.value, number: change.place)
    }
    return wasAbsent && isAbsent ? nil : .some(change.value)
  }
}
