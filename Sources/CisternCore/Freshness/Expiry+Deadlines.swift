/// Lifetimes as points in time. An entry has expired if its deadline is not later than now. The deadline of an
/// entry that never expires is ``MonotonicTime/distantFuture``.
extension Expiry {
  /// Whether a value with this lifetime has expired before the write, which is then refused.
  @inlinable
  package var refusesWrite: Bool { lifetime == 0 }

  /// Whether this expiry has no deadline, so that no clock needs to be read.
  @inlinable
  package var isNever: Bool { lifetime == .max && idle == 0 }

  /// Returns this expiry with its jitter applied to the lifetime, for a key with this hash.
  ///
  /// The hash determines the reduction instead of a random number, so that a recorded schedule can be replayed.
  @inlinable
  package func resolved(forHash hash: UInt64) -> Expiry {
    guard jitterPart != 0, lifetime != .max, lifetime != 0 else { return self }
    // Bits 24 to 39, as many as the fraction has. The upper eight of these select neither the shard nor the slot.
    let share = ((hash >> 24 & 0xffff) * UInt64(jitterPart)) >> 16
    return unjittered(lifetime - min(lifetime - 1, Self.part(share, of: lifetime)))
  }

  @usableFromInline
  func unjittered(_ lifetime: UInt64) -> Expiry {
    var expiry = self
    expiry.lifetime = lifetime
    expiry.jitterPart = 0
    return expiry
  }

  /// Returns `share` 65,536ths of a lifetime.
  @usableFromInline
  package static func part(_ share: UInt64, of lifetime: UInt64) -> UInt64 {
    let product = lifetime.multipliedFullWidth(by: share)
    return product.high << 48 | product.low >> 16
  }

  /// Returns the deadline in memory of an entry that is written now.
  @inlinable
  package func deadline(from now: MonotonicTime) -> MonotonicTime {
    now.advanced(by: lifetime)
  }

  /// The length of the interval before the end of the lifetime in which a use triggers a refresh, in nanoseconds;
  /// zero for none.
  @usableFromInline
  package var refreshSpan: UInt64 {
    guard refreshPart != 0, lifetime != .max else { return 0 }
    return lifetime - Self.part(UInt64(refreshPart), of: lifetime)
  }

  /// Returns the timing in memory of an entry that is written now.
  @inlinable
  func timing(from now: MonotonicTime, tags: [String] = [], measuresAge: Bool = false) -> Timing {
    let deadline = deadline(from: now)
    if grace == 0, idle == 0, refreshPart == 0, tags.isEmpty, !measuresAge { return .plain(until: deadline) }
    return Timing(
      Deadlines(
        freshUntil: deadline, refreshSpan: refreshSpan,
        goneFrom: lifetime == .max ? nil : deadline.advanced(by: grace), windows: windows),
      lastAccess: idle == 0 ? nil : LastAccess(idle: idle, last: now, lastOnDisk: now), tags: tags,
      age: ValueAge(isNeeded: measuresAge), now: now)
  }

  /// Returns the deadline on disk of a record that is written now; nil if it never expires.
  @inlinable
  package func wallExpiry(from now: WallTime) -> WallTime? {
    guard lifetime != .max, let lifetime = Int64(exactly: lifetime) else { return nil }
    let (sum, overflow) = now.nanosecondsSince1970.addingReportingOverflow(lifetime)
    return overflow ? nil : WallTime(nanosecondsSince1970: sum)
  }
}

extension MonotonicTime {
  /// Returns the time `nanoseconds` later, or the distant future if the sum overflows.
  @inlinable
  package func advanced(by nanoseconds: UInt64) -> MonotonicTime {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
  }
}
