/// A value that is held in memory, and what is known of it. Its cost is in its slot's node.
@usableFromInline
struct Held<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  /// How long it is good for.
  @usableFromInline let timing: Timing
  /// Whether the second tier holds the same value, staged or committed. Whoever takes the last copy announces its end.
  @inlinable
  var isPersisted: Bool {
    get { copy == .oneOfTwo }
    set { copy = newValue ? .oneOfTwo : .last }
  }

  /// What its leaving memory means for observers. One byte: a slot has no more to spare.
  @usableFromInline var copy: Copy
  /// The shard's era when it began to be fetched, or was set. Invalidations since may concern it.
  @usableFromInline var era: Era

  @inlinable
  init(value: Value, timing: Timing, isPersisted: Bool, era: Era = Era()) {
    self.value = value
    self.timing = timing
    copy = isPersisted ? .oneOfTwo : .last
    self.era = era
  }

  @inlinable
  func freshness(at now: MonotonicTime) -> Freshness { timing.freshness(at: now) }

  /// Notes a use, where its time depends on that.
  @inlinable
  func noteUse(at now: MonotonicTime) {
    if case .detailed(let life) = timing { life.noteUse(at: now) }
  }

  /// Its uses, where the second tier has it and should hear of one now. For one caller.
  @inlinable
  func takeUseForDisk(at now: MonotonicTime) -> Uses? {
    guard isPersisted, case .detailed(let life) = timing else { return nil }
    return life.takeUseForDisk(at: now)
  }

  /// The same, but no refresh is due before `time`.
  @usableFromInline
  func postponingRefresh(until time: MonotonicTime) -> Held {
    Held(value: value, timing: timing.postponingRefresh(until: time), isPersisted: isPersisted, era: era)
  }

  /// Whether it may not be returned to anyone any more.
  @inlinable
  func isGone(at now: MonotonicTime) -> Bool { freshness(at: now) == .gone }

  /// Whether it is past its lifetime, in grace or not.
  @inlinable
  func isExpired(at now: MonotonicTime) -> Bool {
    switch freshness(at: now) {
    case .fresh, .refreshDue: false
    case .stale, .gone: true
    }
  }
}

/// What memory's copy of a value is.
@usableFromInline
enum Copy: UInt8, Sendable {
  /// The second tier does not hold the value: with this it ends.
  case last
  /// The second tier holds it, staged or committed.
  case oneOfTwo
  /// The value has ended, and an invalidation told so.
  case ended
}

/// A count of invalidations that fits into what alignment leaves free in a slot: it wraps after 16 million.
@usableFromInline
struct Era: Sendable, Equatable {
  @usableFromInline let low: UInt16
  @usableFromInline let high: UInt8

  @inlinable
  init(_ number: UInt64 = 0) {
    low = UInt16(truncatingIfNeeded: number)
    high = UInt8(truncatingIfNeeded: number >> 16)
  }

  @usableFromInline
  var bits: UInt32 { UInt32(low) | UInt32(high) << 16 }
}

/// A value that is kept while a flight brings a newer one.
@usableFromInline
final class Refreshing<Value: Sendable>: Sendable {
  @usableFromInline let held: Held<Value>
  @usableFromInline let flight: Flight<Value>

  @inlinable
  init(held: Held<Value>, flight: Flight<Value>) {
    self.held = held
    self.flight = flight
  }
}

/// A value to return where a flight fails or takes too long. Behind a reference: few loads have one, and all hand on the room
/// for it.
@usableFromInline
final class Fallback<Value: Sendable>: Sendable {
  @usableFromInline let held: Held<Value>

  @inlinable
  init(_ held: Held<Value>) {
    self.held = held
  }
}
