/// How long an entry stays fresh after it was written.
///
/// A cache has one for all its entries, and each write may bring its own.
///
/// A lifetime of zero or less says that the value has expired before it is written: the write is *refused*. Its callers
/// get the value, nothing is stored, and no older value of that key survives it, in either tier.
///
/// A lifetime too long to be counted in 64 bits of nanoseconds (584 years) is ``never``.
public struct Expiry: Sendable, Hashable {
  /// Nanoseconds; zero when refused, `UInt64.max` for never.
  ///
  /// What else freshness will know of an entry (a grace period, time to idle, refresh ahead, jitter) belongs beside it.
  @usableFromInline
  package let lifetime: UInt64

  @inlinable
  init(lifetime: UInt64) {
    self.lifetime = lifetime
  }

  /// Fresh for as long as it is there.
  @inlinable
  public static var never: Expiry { Expiry(lifetime: .max) }

  /// Fresh for this long. Zero or less refuses the write; less than a nanosecond counts as one.
  public static func after(_ duration: Duration) -> Expiry {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return Expiry(lifetime: 0) }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let part = UInt64(attoseconds).dividedRoundingUp(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(part)
    return Expiry(lifetime: overflow || carry ? .max : sum)
  }
}

extension Expiry: CustomStringConvertible {
  /// "never", or "after 60.0 seconds".
  public var description: String {
    lifetime == .max ? "never" : "after \(Duration.nanoseconds(lifetime))"
  }
}

extension UInt64 {
  fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder == 0 ? quotient : quotient + 1
  }
}
