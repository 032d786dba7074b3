/// An object that runs a closure when it is released, for example to use the cache.
final class Visitor: Sendable {
  let onDeinit: @Sendable () -> Void

  init(onDeinit: @escaping @Sendable () -> Void) {
    self.onDeinit = onDeinit
  }

  deinit { onDeinit() }
}

/// A key that is equal by its number. The carried object is released with the key's last copy.
struct CarryingKey: Hashable, Sendable {
  let number: Int
  var carried: Visitor?

  static func == (one: CarryingKey, other: CarryingKey) -> Bool { one.number == other.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
