/// What one who wants to know a key's value has been shown of it: tells of each change whether it shows another. Pure.
struct ShownValue<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The number of the newest change that is shown; nil before anything is.
  private var number: UInt64?
  /// Whether what is shown is that there is none. That what nobody saw is gone need not be told.
  private var isAbsent = false

  /// Whether anything has been shown yet.
  var hasBegun: Bool { number != nil }

  /// Shows the value as it is, up to the change with this number.
  mutating func begin(with value: Value?, number: UInt64) {
    self.number = number
    isAbsent = value.map { _ in false } ?? true
  }

  /// What is to be shown because of a change; nil for nothing.
  ///
  /// - Parameter current: looks the value up, with the number of the newest change that it has. Nil where the cache is gone.
  mutating func take(_ change: Change<Key, Value>, current: () -> (Value?, UInt64)?) -> Value?? {
    if let number, change.number <= number { return nil }
    let wasAbsent = hasBegun && isAbsent
    if case .invalidated = change.event {
      // It may concern other keys. A value that came after it has a change of its own.
      guard case (nil, let newest)? = current() else { return nil }
      begin(with: nil, number: newest)
    } else {
      begin(with: change.value, number: change.number)
    }
    return wasAbsent && isAbsent ? nil : .some(change.value)
  }
}
