/// The parts of a value's grace in which a stale value may be returned, by the reason for returning it (RFC 5861).
@usableFromInline
package struct StaleWindows: Sendable, Hashable {
  /// The nanoseconds after the lifetime in which a load may return the value while a refresh runs in the background.
  @usableFromInline package var whileRevalidate: UInt64
  /// The nanoseconds after the lifetime in which a load may return the value because its fetch failed or takes too
  /// long.
  @usableFromInline package var ifError: UInt64

  /// Creates windows. Both are the whole grace by default.
  @inlinable
  package init(whileRevalidate: UInt64 = .max, ifError: UInt64 = .max) {
    self.whileRevalidate = whileRevalidate
    self.ifError = ifError
  }

  /// Whether both windows are the whole grace.
  @inlinable
  package var areUnlimited: Bool { whileRevalidate == .max && ifError == .max }

  /// Returns the uses of a value that is stale by this number of nanoseconds.
  @usableFromInline
  func uses(staleBy age: UInt64) -> StaleUses {
    StaleUses(
      whileRevalidate: whileRevalidate == .max || age < whileRevalidate, ifError: ifError == .max || age < ifError)
  }
}
