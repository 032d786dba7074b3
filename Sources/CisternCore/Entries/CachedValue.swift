/// A value in memory, with its deadlines and its residency. The slot's node holds its cost.
@usableFromInline
struct CachedValue<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  /// The deadlines and the tags of the value.
  @usableFromInline let timing: Timing
  /// Whether the second tier holds the same value, staged or committed.
  ///
  /// If it does not, the code that removes the value from memory announces the value's end.
  @inlinable
  var isPersisted: Bool {
    get { residency == .bothTiers }
    set { residency = newValue ? .bothTiers : .memoryOnly }
  }

  /// The meaning of an eviction of this value for observers. It must fit into one byte, because of the slot's size.
  @usableFromInline var residency: Residency
  /// The invalidation version with which the value was last compared. Later invalidations may concern the value.
  @usableFromInline var invalidationVersion: ShortVersion

  @inlinable
  init(value: Value, timing: Timing, isPersisted: Bool, invalidationVersion: ShortVersion = ShortVersion()) {
    self.value = value
    self.timing = timing
    residency = isPersisted ? .bothTiers : .memoryOnly
    self.invalidationVersion = invalidationVersion
  }

  @inlinable
  init(_ preparedValue: PreparedValue<Value>, _ residency: Residency, invalidationVersion: ShortVersion) {
    value = preparedValue.value
    timing = preparedValue.timing
    self.residency = residency
    self.invalidationVersion = invalidationVersion
  }

  @inlinable
  func freshness(at now: MonotonicTime) -> Freshness { timing.freshness(at: now) }

  /// Notes a use of the value if its lifetime depends on uses.
  @inlinable
  func noteUse(at now: MonotonicTime) {
    if case .detailed(let details) = timing { details.noteUse(at: now) }
  }

  /// Returns the last access if the second tier holds the value and must note a use now. Only one caller gets it.
  @inlinable
  func takeAccessForDisk(at now: MonotonicTime) -> LastAccess? {
    guard isPersisted, case .detailed(let details) = timing else { return nil }
    return details.takeAccessForDisk(at: now)
  }

  /// Returns the same value, not due for a refresh during a pause.
  @usableFromInline
  func postponingRefresh(during pause: RetryPause) -> CachedValue {
    CachedValue(
      value: value, timing: timing.postponingRefresh(during: pause), isPersisted: isPersisted,
      invalidationVersion: invalidationVersion)
  }

  /// Returns whether the value is past its grace period, so that no caller may get it.
  @inlinable
  func isGone(at now: MonotonicTime) -> Bool { freshness(at: now) == .gone }

  /// Returns whether the value is past its lifetime. It may be within its grace period.
  @inlinable
  func isExpired(at now: MonotonicTime) -> Bool { !freshness(at: now).isFresh }
}
