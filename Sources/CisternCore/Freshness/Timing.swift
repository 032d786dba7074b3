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
  ///   - deadlines: The deadlines of the value.
  ///   - lastAccess: The last access time of a value with a time to idle; nil without one.
  ///   - tags: The tags of the value.
  ///   - age: The age of the value at `now`.
  ///   - now: The current time.
  @inlinable
  init(
    _ deadlines: Deadlines, lastAccess: LastAccess? = nil, tags: [String] = [], age: ValueAge = ValueAge(),
    now: MonotonicTime
  ) {
    if lastAccess == nil, tags.isEmpty, deadlines.areOne, !age.isNeeded {
      self = .plain(until: deadlines.freshUntil)
    } else {
      self = .detailed(DetailedTiming(deadlines, lastAccess: lastAccess, tags: tags, created: age.created(at: now)))
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
    case .detailed(let details):
      details.lastAccess == nil && now < details.deadlines.freshUntil && now < details.deadlines.refreshFrom
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
      details.deadlines.freshUntil == .distantFuture && details.deadlines.refreshFrom == .distantFuture
        && details.lastAccess == nil
    }
  }

  /// The end of the grace, regardless of the idle limit.
  @usableFromInline
  var goneFrom: MonotonicTime {
    switch self {
    case .plain(let deadline): deadline
    case .detailed(let details): details.deadlines.goneFrom
    }
  }

  /// The last access time of a value with a time to idle; nil without one.
  @usableFromInline
  var lastAccess: LastAccess? {
    switch self {
    case .plain: nil
    case .detailed(let details): details.lastAccess
    }
  }

  @usableFromInline
  var tags: [String] {
    switch self {
    case .plain: []
    case .detailed(let details): details.tags
    }
  }

  /// Returns this timing without a refresh during a pause.
  @usableFromInline
  func postponingRefresh(during pause: RetryPause) -> Timing {
    switch self {
    case .plain: self
    case .detailed(let details): .detailed(details.postponingRefresh(during: pause))
    }
  }
}
