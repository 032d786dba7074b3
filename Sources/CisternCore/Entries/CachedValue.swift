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

  /// Returns the uses if the second tier holds the value and must note a use now. Only one caller gets them.
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

  /// Returns whether a load may return the value because its fetch failed or takes too long.
  func canReplaceFetch(at now: MonotonicTime) -> Bool { freshness(at: now).permitsFallback }

  /// Returns whether the value is past its lifetime. It may be within its grace period.
  @inlinable
  func isExpired(at now: MonotonicTime) -> Bool { !freshness(at: now).isFresh }
}

/// The residency of a value that memory holds.
@usableFromInline
enum Residency: UInt8, Sendable {
  /// The second tier does not hold the value. If memory evicts it, the value ends.
  case memoryOnly
  /// The second tier holds the value too, staged or committed.
  case bothTiers
  /// An invalidation ended the value and announced that end.
  case invalidated
}

/// The low 24 bits of an invalidation version, which fit into the alignment padding of a slot.
@usableFromInline
struct ShortVersion: Sendable, Equatable {
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
    return InvalidationVersion(number: newest.number &- ((newest.number &- bits) & 0xff_ffff))
  }
}

/// A value that memory keeps during the fetch of a newer one.
@usableFromInline
final class Refreshing<Value: Sendable>: Sendable {
  @usableFromInline let held: CachedValue<Value>
  @usableFromInline let flight: Flight<Value>

  @inlinable
  init(held: CachedValue<Value>, flight: Flight<Value>) {
    self.held = held
    self.flight = flight
  }
}

/// A value that a load returns if its flight fails or takes too long.
///
/// It is behind a reference because few loads have one, and all of them pass its storage on.
@usableFromInline
final class Fallback<Value: Sendable>: Sendable {
  @usableFromInline let held: CachedValue<Value>

  @inlinable
  init(_ held: CachedValue<Value>) {
    self.held = held
  }
}
