/// How long a held value is good for.
///
/// Most values are fresh until some time and gone from then on: that is kept beside the value, in eight bytes. What
/// knows more than that keeps it in an object of its own.
@usableFromInline
enum Timing: Sendable {
  /// Fresh until then, and gone from then on; until the distant future for one that never expires.
  case plain(until: MonotonicTime)
  /// With grace, a limit on idleness, refresh ahead or tags.
  case detailed(Life)

  /// Fresh until `freshUntil`; refreshed from `refreshFrom` on by whoever asks; usable, stale, until `goneFrom`; gone once
  /// it was not used for `idle` nanoseconds, where that is not zero.
  @inlinable
  init(
    freshUntil: MonotonicTime, refreshFrom: MonotonicTime? = nil, goneFrom: MonotonicTime? = nil, idle: UInt64 = 0,
    tags: [String] = [], now: MonotonicTime, lastUsedOnDisk: MonotonicTime? = nil, staleAtZero: UInt64 = 0
  ) {
    if idle == 0, tags.isEmpty, refreshFrom ?? freshUntil >= freshUntil, goneFrom ?? freshUntil <= freshUntil {
      self = .plain(until: freshUntil)
    } else {
      self = .detailed(
        Life(
          freshUntil: freshUntil, refreshFrom: min(refreshFrom ?? freshUntil, freshUntil),
          goneFrom: max(goneFrom ?? freshUntil, freshUntil),
          uses: idle == 0 ? nil : Uses(idle: idle, last: now, lastOnDisk: lastUsedOnDisk ?? now), tags: tags,
          staleAtZero: staleAtZero))
    }
  }

  /// What it makes of the value now.
  @inlinable
  func freshness(at now: MonotonicTime) -> Freshness {
    switch self {
    case .plain(let deadline): now < deadline ? .fresh : .gone
    case .detailed(let life): life.freshness(at: now)
    }
  }

  /// Whether it is fresh, not due for a refresh, and wants no note of its uses: nothing follows from returning the value.
  @inlinable
  func isSimplyFresh(at now: MonotonicTime) -> Bool {
    switch self {
    case .plain(let deadline): now < deadline
    case .detailed(let life): life.uses == nil && now < life.freshUntil && now < life.refreshFrom
    }
  }

  /// Whether it never changes what the value is worth: then nobody has to look at the clock for it.
  @usableFromInline
  var isForever: Bool {
    switch self {
    case .plain(let deadline): deadline == .distantFuture
    case .detailed(let life):
      life.freshUntil == .distantFuture && life.refreshFrom == .distantFuture && life.uses == nil
    }
  }

  /// From when on the value is gone, idle or not.
  @usableFromInline
  var goneFrom: MonotonicTime {
    switch self {
    case .plain(let deadline): deadline
    case .detailed(let life): life.goneFrom
    }
  }

  /// Its uses, where it is gone once there are none.
  @usableFromInline
  var uses: Uses? {
    switch self {
    case .plain: nil
    case .detailed(let life): life.uses
    }
  }

  @usableFromInline
  var tags: [String] {
    switch self {
    case .plain: []
    case .detailed(let life): life.tags
    }
  }

  /// The same, but no refresh is due before `time`: one failed just now.
  @usableFromInline
  func postponingRefresh(until time: MonotonicTime) -> Timing {
    switch self {
    case .plain: self
    case .detailed(let life): .detailed(life.postponingRefresh(until: time))
    }
  }
}
