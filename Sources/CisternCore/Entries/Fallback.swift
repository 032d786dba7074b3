/// A value that a load returns if its flight fails or takes too long.
///
/// It is behind a reference because few loads have one, and all of them pass its storage on.
@usableFromInline
final class Fallback<Value: Sendable>: Sendable {
  @usableFromInline let held: CachedValue<Value>

  @inlinable
  init(_ held: CachedValue<Value>) {
    self.held = held
  }
}
