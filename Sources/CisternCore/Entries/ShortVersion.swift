/// The low 24 bits of an invalidation version, which fit into the alignment padding of a slot.
@usableFromInline
struct ShortVersion: Sendable, Equatable {
  /// The number of different short versions.
  @inlinable static var count: UInt64 { 1 << 24 }

  @usableFromInline let low: UInt16
  @usableFromInline let high: UInt8

  @inlinable
  init(_ version: InvalidationVersion = .zero) {
    low = UInt16(truncatingIfNeeded: version.number)
    high = UInt8(truncatingIfNeeded: version.number >> 16)
  }

  /// Returns the newest version with these bits that is not above `newest`.
  func whole(upTo newest: InvalidationVersion) -> InvalidationVersion {
    let bits = UInt64(low) | UInt64(high) << 16
    return InvalidationVersion(number: newest.number &- ((newest.number &- bits) & (Self.count - 1)))
  }
}
