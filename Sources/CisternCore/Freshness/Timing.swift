/// The time in which a held value is usable.
///
/// Most values have one deadline, which is stored inline in eight bytes. Values with grace, an idle limit, a
/// refresh ahead, tags or an age have a separate object.
@usableFromInline
enum Timing: Sendable {
  /// The value is fresh until this deadline and gone afterwards. The deadline is the distant future if the value
  /// never expires.
  case plain(until: MonotonicTime)
  /// The value has grace, an idle limit, a refresh ahead or tags.
  case detailed(DetailedTiming)

  /// Creates the timing of a value.
  ///
  /// - Parameters:
  ///   - freshUntil: The end of the lifetime.
  ///   - refreshFrom: The time from which a load triggers a refresh; nil for none.
  ///   - goneFrom: The end of the grace; nil for no grace.
  ///   - idle: The time to idle in nanoseconds; zero for no limit.
  ///   - tags: The tags of the value.
  ///   - now: The current time, which is the last use.
  ///   - lastUsedOnDisk: The last use that the second tier has recorded; nil for `now`.
  ///   - staleAtZero: The staleness of the value at the clock's zero, in nanoseconds.
  ///   - age: The age of the value at `now`.
  ///   - windows: The windows within the grace.
  @inlinable
  init(
    freshUntil: MonotonicTime, refreshFrom: MonotonicTime? = nil, goneFrom: MonotonicTime? = nil, idle: UInt64 = 0,
    tags: [String] = [], now: MonotonicTime, lastUsedOnDisk: MonotonicTime? = nil, staleAtZero: UInt64 = 0,
    age: ValueAge = ValueAge(), windows: StaleWindows = StaleWindows()
  ) {
    if idle == 0, tags.isEmpty, refreshFrom ?? freshUntil >= freshUntil, goneFrom ?? freshUntil <= freshUntil,
      !age.isNeeded
    {
      self = .plain(until: freshUntil)
    } else {
      self = .detailed(
        DetailedTiming(
          freshUntil: freshUntil, refreshFrom: min(refreshFrom ?? freshUntil, freshUntil),
          goneFrom: max(goneFrom ?? freshUntil, freshUntil),
          uses: idle == 0 ? nil : LastAccess(idle: idle, last: now, lastOnDisk: lastUsedOnDisk ?? now), tags: tags,
          staleAtZero: staleAtZero, created: age.created(at: now), windows: windows))
    }
  }

  /// Returns the state of the value at this time.
  @inlinable
  func freshness(at now: MonotonicTime) -> Freshness {
    switch self {
    case .plain(let deadline): now < deadline ? .fresh : .gone
    case .detailed(let details): details.freshness(at: now)
    }
  }

  /// Returns whether the value is fresh, not due for a refresh, and without an idle limit. Returning the value then
  /// has no other effect.
  @inlinable
  func isSimplyFresh(at now: MonotonicTime) -> Bool {
    switch self {
    case .plain(let deadline): now < deadline
    case .detailed(let details): details.uses == nil && now < details.freshUntil && now < details.refreshFrom
    }
  }

  /// Whether the value has no lifetime, no tags and no age.
  @inlinable
  var isPlainForever: Bool { if case .plain(.distantFuture) = self { true } else { false } }

  /// Whether the value is fresh at any time, so that a reader needs no clock.
  @usableFromInline
  var isForever: Bool {
    switch self {
    case .plain(let deadline): deadline == .distantFuture
    case .detailed(let details):
      details.freshUntil == .distantFuture && details.refreshFrom == .distantFuture && details.uses == nil
    }
  }

  /// The end of the grace, regardless of the idle limit.
  @usableFromInline
  var goneFrom: MonotonicTime {
    switch self {
    case .plain(let deadline): deadline
    case .detailed(let details): details.goneFrom
    }
  }

  /// The last access time of a value with a time to idle; nil without one.
  @usableFromInline
  var uses: LastAccess? {
    switch self {
    case .plain: nil
    case .detailed(let details): details.uses
    }
  }

  @usableFromInline
  var tags: [String] {
    switch self {
    case .plain: []
    case .detailed(let details): details.tags
    }
  }

  /// Returns this timing without a refresh before `time`, after a refresh failed.
  @usableFromInline
  func postponingRefresh(until time: MonotonicTime) -> Timing {
    switch self {
    case .plain: self
    case .detailed(let details): .detailed(details.postponingRefresh(until: time))
    }
  }
}
