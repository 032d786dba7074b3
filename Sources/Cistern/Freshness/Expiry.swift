/// How long an entry stays fresh after it was written, and what becomes of it then.
///
/// A cache has one for all its entries, each write may bring its own, and the fetched value itself can decide
/// (``CacheConfiguration/expiryOfValue``).
///
/// ```swift
/// .after(.seconds(60))                                    // a minute, then gone
/// .after(.seconds(60), graceStale: .seconds(600))         // then ten minutes more for those who accept it stale
/// .after(.seconds(60)).refreshedAhead(at: 0.8)            // who asks in the last twelve seconds has it fetched anew
/// .after(.seconds(60)).jittered(by: 0.1)                  // each key between 54 and 60 seconds
/// .idle(.seconds(300))                                    // gone when nobody used it for five minutes
/// ```
///
/// A lifetime of zero or less says that the value has expired before it is written: the write is *refused*. Its callers
/// get the value, nothing is stored, and no older value of that key survives it, in either tier.
///
/// A lifetime too long to be counted in 64 bits of nanoseconds (584 years) is ``never``. Grace without an expiry has no
/// meaning and is ignored; a negative grace is none.
public struct Expiry: Sendable, Hashable {
  /// Nanoseconds; zero when refused, `UInt64.max` for never.
  @usableFromInline
  package internal(set) var lifetime: UInt64
  /// Nanoseconds after the lifetime in which the value may be served stale.
  @usableFromInline
  package internal(set) var grace: UInt64 = 0
  /// Nanoseconds without a use after which the value is gone; zero for no such limit.
  @usableFromInline
  package internal(set) var idle: UInt64 = 0
  /// The part of the lifetime after which a use has the value fetched anew, in 65,536ths; zero for none.
  @usableFromInline
  package internal(set) var refreshPart: UInt32 = 0
  /// The part of the lifetime that may be taken off, in 65,536ths.
  @usableFromInline
  package internal(set) var jitterPart: UInt32 = 0

  @inlinable
  init(lifetime: UInt64) {
    self.lifetime = lifetime
  }

  /// Fresh for as long as it is there.
  @inlinable
  public static var never: Expiry { Expiry(lifetime: .max) }

  /// Fresh for this long, and then usable for `graceStale` more by those who accept a stale value. Zero or less refuses
  /// the write; less than a nanosecond counts as one.
  public static func after(_ duration: Duration, graceStale: Duration = .zero) -> Expiry {
    var expiry = Expiry(lifetime: duration.countedNanoseconds)
    expiry.grace = graceStale.countedNanoseconds
    return expiry
  }

  /// Fresh until nobody has used it for this long. Zero or less refuses the write.
  public static func idle(_ duration: Duration) -> Expiry {
    let idle = duration.countedNanoseconds
    guard idle > 0 else { return Expiry(lifetime: 0) }
    return Expiry.never.idle(duration)
  }

  /// The same, and gone as soon as nobody has used it for this long. Zero or less sets no such limit.
  ///
  /// A use is a look-up or load that returned the value. In memory every use counts. So that reads do not write to disk,
  /// what that knows of the last use, after a restart or once memory needed the room, may be a quarter of `duration` too
  /// old, never too new.
  public func idle(_ duration: Duration) -> Expiry {
    var expiry = self
    expiry.idle = duration.countedNanoseconds
    return expiry
  }

  /// The same, and whoever loads the key after this part of the lifetime gets the value at once and has it fetched anew
  /// in the background: an entry in use never expires.
  ///
  /// Without a meaning for a lifetime of ``never``. The fraction is limited to what lies between 0 and 1; at 1, nothing
  /// is refreshed ahead.
  public func refreshedAhead(at fraction: Double) -> Expiry {
    var expiry = self
    let part = UInt32(fraction.clampedPart * 65_536)
    expiry.refreshPart = part == 65_536 ? 0 : max(1, part)
    return expiry
  }

  /// The same, with the lifetime shortened by up to this part, a different one for each key: what was written together
  /// does not expire together. The fraction is limited to what lies between 0 and 1.
  public func jittered(by fraction: Double) -> Expiry {
    var expiry = self
    expiry.jitterPart = UInt32(fraction.clampedPart * 65_536)
    return expiry
  }
}

extension Expiry: CustomStringConvertible {
  /// "never", or "after 60.0 seconds, stale for 600.0 seconds, refreshed at 80 %".
  public var description: String {
    var parts = [lifetime == .max ? "never" : "after \(Duration.nanoseconds(lifetime))"]
    if grace > 0, lifetime != .max { parts.append("stale for \(Duration.nanoseconds(grace))") }
    if idle > 0 { parts.append("idle for \(Duration.nanoseconds(idle))") }
    if refreshPart > 0 { parts.append("refreshed at \(percent(refreshPart))") }
    if jitterPart > 0 { parts.append("jittered by \(percent(jitterPart))") }
    return parts.joined(separator: ", ")
  }

  /// A number of 65,536ths as a percentage with one decimal at most. No part is so small that it reads as none.
  private func percent(_ part: UInt32) -> String {
    let tenths = Swift.max(1, (Int(part) * 1000 + 32_768) / 65_536)
    return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }
}

extension Duration {
  /// Its nanoseconds, rounded up: zero for what is zero or less, the greatest number for what cannot be counted.
  @usableFromInline
  package var countedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (part, rest) = UInt64(attoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(rest == 0 ? part : part + 1)
    return overflow || carry ? .max : sum
  }
}

extension Double {
  /// Between 0 and 1; 0 for what is no number.
  fileprivate var clampedPart: Double { isNaN ? 0 : Swift.min(Swift.max(self, 0), 1) }
}
