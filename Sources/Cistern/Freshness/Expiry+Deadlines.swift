/// Lifetimes as points in time. An entry has expired when its deadline is not later than now; the deadline of what never
/// expires is ``MonotonicTime/distantFuture``.
extension Expiry {
  /// Whether a write with this lifetime has expired before it is made, and is therefore refused.
  @inlinable
  package var refusesWrite: Bool { lifetime == 0 }

  /// Whether the clock need not be read.
  @inlinable
  package var isNever: Bool { lifetime == .max && idle == 0 }

  /// The same without jitter: the lifetime is what the jitter makes of it for a key with this hash.
  ///
  /// The key decides, and not chance, so that a schedule can be replayed.
  @inlinable
  package func resolved(forHash hash: UInt64) -> Expiry {
    guard jitterPart != 0, lifetime != .max, lifetime != 0 else { return self }
    // The bits that choose neither shard nor slot; 16 of them are as fine as the fraction is.
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

  /// So many 65,536ths of it.
  @usableFromInline
  package static func part(_ share: UInt64, of lifetime: UInt64) -> UInt64 {
    let product = lifetime.multipliedFullWidth(by: share)
    return product.high << 48 | product.low >> 16
  }

  /// When an entry written now expires, in memory.
  @inlinable
  package func deadline(from now: MonotonicTime) -> MonotonicTime {
    now.advanced(by: lifetime)
  }

  /// Nanoseconds before the end of the lifetime from which on a use refreshes; zero for none.
  @usableFromInline
  package var refreshSpan: UInt64 {
    guard refreshPart != 0, lifetime != .max else { return 0 }
    return lifetime - Self.part(UInt64(refreshPart), of: lifetime)
  }

  /// How long an entry written now is good for, in memory.
  @inlinable
  func timing(from now: MonotonicTime, tags: [String] = []) -> Timing {
    let deadline = deadline(from: now)
    if grace == 0, idle == 0, refreshPart == 0, tags.isEmpty { return .plain(until: deadline) }
    return Timing(
      freshUntil: deadline,
      refreshFrom: refreshSpan == 0
        ? nil : MonotonicTime(nanoseconds: deadline.nanoseconds - min(refreshSpan, deadline.nanoseconds)),
      goneFrom: lifetime == .max ? nil : deadline.advanced(by: grace), idle: idle, tags: tags, now: now)
  }

  /// What a record carries that is written now.
  @usableFromInline
  package func metadata(created: WallTime, cost: UInt32, tags: [String] = []) -> RecordMetadata {
    var metadata = RecordMetadata(created: created, expires: wallExpiry(from: created), cost: cost, tags: tags)
    if metadata.expires != nil { metadata.grace = grace }
    metadata.refreshAhead = refreshSpan
    metadata.idle = idle
    return metadata
  }

  /// When a record written now expires, on disk; nil for never.
  @inlinable
  package func wallExpiry(from now: WallTime) -> WallTime? {
    guard lifetime != .max, let lifetime = Int64(exactly: lifetime) else { return nil }
    let (sum, overflow) = now.nanosecondsSince1970.addingReportingOverflow(lifetime)
    return overflow ? nil : WallTime(nanosecondsSince1970: sum)
  }
}

extension MonotonicTime {
  /// The time so much later, or the distant future where that cannot be counted.
  @inlinable
  package func advanced(by nanoseconds: UInt64) -> MonotonicTime {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
  }
}
