/// A value that a load returns if its flight fails or takes too long.
///
/// It is behind a reference because few loads have one, and all of them pass its storage on.
@usableFromInline
final class Fallback<Value: Sendable>: Sendable {
  @usableFromInline let held: CachedValue<Value>
  /// Whether the second tier alone has the value. Otherwise, memory or an unconfirmed edit has it.
  @usableFromInline let isFromSecondTier: Bool

  @inlinable
  init(_ held: CachedValue<Value>, isFromSecondTier: Bool = false) {
    self.held = held
    self.isFromSecondTier = isFromSecondTier
  }
}
