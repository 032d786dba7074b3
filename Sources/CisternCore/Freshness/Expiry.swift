/// The lifetime of an entry, and the treatment of the entry after the lifetime ends.
///
/// A cache has one expiry for all entries. A write may specify a different one, and a fetched value can determine
/// its own (``CacheConfiguration/expiryOfValue``).
///
/// ```swift
/// .after(.seconds(60))                                    // fresh for a minute, then gone
/// .after(.seconds(60), graceStale: .seconds(600))         // then stale for ten minutes, for callers that accept it
/// .after(.seconds(60)).refreshedAhead(at: 0.8)            // a load in the last twelve seconds triggers a refresh
/// .after(.seconds(60)).jittered(by: 0.1)                  // between 54 and 60 seconds, depending on the key
/// .idle(.seconds(300))                                    // gone after five minutes without a use
/// ```
///
/// A value with a lifetime of zero or less has expired before it is written, and the write is *refused*. The caller
/// receives the value, but neither tier stores it. The key's older value is removed from both tiers.
///
/// A lifetime that exceeds 64 bits of nanoseconds (584 years) is ``never``. A lifetime that ends after the year 2262 is
/// unlimited in the second tier. Grace has no effect without a lifetime. A negative grace counts as zero.
public struct Expiry: Sendable, Hashable {
  /// The lifetime in nanoseconds; zero for a refused write, `UInt64.max` for never.
  @usableFromInline
  package internal(set) var lifetime: UInt64
  /// The time after the lifetime in which the value may be served stale, in nanoseconds.
  @usableFromInline
  package internal(set) var grace: UInt64 = 0
  /// The windows within the grace.
  @usableFromInline
  package internal(set) var windows = StaleWindows()
  /// The time to idle in nanoseconds, after which an unused value is gone; zero for no limit.
  @usableFromInline
  package internal(set) var idle: UInt64 = 0
  /// The part of the lifetime after which a use triggers a refresh, in 65,536ths; zero for no refresh.
  @usableFromInline
  package internal(set) var refreshPart: UInt32 = 0
  /// The greatest part by which the lifetime may be shortened, in 65,536ths.
  @usableFromInline
  package internal(set) var jitterPart: UInt32 = 0

  @inlinable
  init(lifetime: UInt64) {
    self.lifetime = lifetime
  }

  /// An expiry with an unlimited lifetime.
  @inlinable
  public static var never: Expiry { Expiry(lifetime: .max) }

  /// Creates an expiry with a lifetime, and optionally a grace in which callers may accept the stale value.
  ///
  /// - Parameters:
  ///   - duration: The lifetime. Zero or less refuses the write; a positive duration below a nanosecond counts as one.
  ///   - graceStale: The time after the lifetime in which the value is stale but usable.
  /// - Returns: The expiry.
  public static func after(_ duration: Duration, graceStale: Duration = .zero) -> Expiry {
    var expiry = Expiry(lifetime: duration.countedNanoseconds)
    expiry.grace = graceStale.countedNanoseconds
    return expiry
  }

  /// Creates an expiry with a lifetime, and with separate windows for the two reasons to return a stale value. The
  /// windows are those of RFC 5861, and both begin at the end of the lifetime.
  ///
  /// ```swift
  /// // A minute fresh; then half a minute stale while a refresh runs; then, for a day, stale only if the fetch fails.
  /// .after(.seconds(60), staleWhileRevalidate: .seconds(30), staleIfError: .seconds(86_400))
  /// ```
  ///
  /// The longer window is the grace, in which the value is kept. ``LoadPolicy/cachedOnly``, ``Cache/find(_:)`` and
  /// ``Cache/value(forKey:staleUpTo:)`` return the value in the whole grace.
  ///
  /// - Parameters:
  ///   - duration: The lifetime. Zero or less refuses the write.
  ///   - staleWhileRevalidate: The time in which a load returns the stale value at once and starts a background
  ///     refresh. After it, loads fetch.
  ///   - staleIfError: The time in which a load returns the stale value if its fetch fails or takes too long.
  /// - Returns: The expiry.
  public static func after(
    _ duration: Duration, staleWhileRevalidate: Duration, staleIfError: Duration
  ) -> Expiry {
    var expiry = Expiry(lifetime: duration.countedNanoseconds)
    expiry.windows = StaleWindows(
      whileRevalidate: staleWhileRevalidate.countedNanoseconds, ifError: staleIfError.countedNanoseconds)
    expiry.grace = Swift.max(expiry.windows.whileRevalidate, expiry.windows.ifError)
    return expiry
  }

  /// Creates an expiry with an unlimited lifetime and a time to idle.
  ///
  /// - Parameter duration: The time to idle, after which an unused value is gone. Zero or less refuses the write.
  /// - Returns: The expiry.
  public static func idle(_ duration: Duration) -> Expiry {
    let idle = duration.countedNanoseconds
    guard idle > 0 else { return Expiry(lifetime: 0) }
    return Expiry.never.idle(duration)
  }

  /// Returns this expiry with a time to idle: the value is also gone when it was not used for `duration`.
  ///
  /// A use is a look-up or a load that returned the value. All uses count while the value is in memory. The disk
  /// records only some uses, so that reads rarely write. Its recorded time may be up to a quarter of `duration` too
  /// old, but never too new. The recorded time counts after a restart, and after memory evicted the value.
  ///
  /// - Parameter duration: The time to idle. Zero or less sets no limit.
  /// - Returns: The expiry with the time to idle.
  public func idle(_ duration: Duration) -> Expiry {
    var expiry = self
    expiry.idle = duration.countedNanoseconds
    return expiry
  }

  /// Returns this expiry with a refresh ahead: a load after this part of the lifetime returns the value and starts
  /// a background refresh. An entry in use therefore does not expire, as long as refreshes succeed.
  ///
  /// It has no effect on a lifetime of ``never``.
  ///
  /// - Parameter fraction: The part of the lifetime, clamped to the range from 0 to 1. With 1, no refresh happens.
  /// - Returns: The expiry with the refresh ahead.
  public func refreshedAhead(at fraction: Double) -> Expiry {
    var expiry = self
    let part = UInt32(fraction.clampedPart * 65_536)
    expiry.refreshPart = part == 65_536 ? 0 : max(1, part)
    return expiry
  }

  /// Returns this expiry with a lifetime that is shortened by up to this part, depending on the key. Entries that
  /// are written together then do not expire together.
  ///
  /// - Parameter fraction: The greatest part by which the lifetime is shortened, clamped to the range from 0 to 1.
  /// - Returns: The expiry with lifetimes that differ by key.
  public func jittered(by fraction: Double) -> Expiry {
    var expiry = self
    expiry.jitterPart = UInt32(fraction.clampedPart * 65_536)
    return expiry
  }
}

extension Expiry: CustomStringConvertible {
  /// A textual representation: "never", or "after 60.0 seconds, stale for 600.0 seconds, refreshed at 80 %".
  public var description: String {
    var parts = [lifetime == .max ? "never" : "after \(Duration.nanoseconds(lifetime))"]
    if grace > 0, lifetime != .max { parts.append(contentsOf: graceDescription) }
    if idle > 0 { parts.append("idle for \(Duration.nanoseconds(idle))") }
    if refreshPart > 0 { parts.append("refreshed at \(percent(refreshPart))") }
    if jitterPart > 0 { parts.append("jittered by \(percent(jitterPart))") }
    return parts.joined(separator: ", ")
  }

  private var graceDescription: [String] {
    if windows.areUnlimited { return ["stale for \(Duration.nanoseconds(grace))"] }
    return [
      "stale while revalidated for \(Duration.nanoseconds(windows.whileRevalidate))",
      "stale after errors for \(Duration.nanoseconds(windows.ifError))",
    ]
  }

  /// Returns a number of 65,536ths as a percentage with at most one decimal. The result is never zero percent.
  private func percent(_ part: UInt32) -> String {
    let tenths = Swift.max(1, (Int(part) * 1000 + 32_768) / 65_536)
    return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded up. Zero if the duration is not positive, and `UInt64.max` if it
  /// overflows.
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
  /// The value clamped to the range from 0 to 1; zero for NaN.
  fileprivate var clampedPart: Double { isNaN ? 0 : Swift.min(Swift.max(self, 0), 1) }
}
