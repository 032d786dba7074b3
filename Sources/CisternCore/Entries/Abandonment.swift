/// The course of a flight after its last waiter has left.
@usableFromInline
enum Abandonment: Sendable {
  /// The flight completes without waiters.
  case never
  /// The flight is abandoned at once.
  case atOnce
  /// The flight is abandoned together with its work, which it shares with other flights. Until then, it continues and
  /// takes waiters.
  case withWork
}
