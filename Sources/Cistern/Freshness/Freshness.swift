/// What a value's age makes of it, at one instant.
@usableFromInline
enum Freshness: Equatable, Sendable {
  /// May be returned to anyone.
  case fresh
  /// May be returned to anyone, and should be fetched anew by whoever can.
  case refreshDue
  /// Past its lifetime by so many nanoseconds, and in grace: for those who accept it. `refreshDue` unless a refresh
  /// failed a short time ago.
  case stale(by: UInt64, refreshDue: Bool)
  /// For nobody. It is still there: its end has to be announced first.
  case gone
}
