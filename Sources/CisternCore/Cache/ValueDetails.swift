/// The age, the remaining lifetime and the tags of a value at one instant.
@usableFromInline
final class ValueDetails: Sendable {
  let age: Duration?
  let remainingLifetime: Duration?
  let tags: [String]

  /// The details of a value that was stored just now, without a lifetime and without tags, or that was not stored.
  @usableFromInline static let new = ValueDetails(age: .zero)

  @usableFromInline
  init(age: Duration? = nil, remainingLifetime: Duration? = nil, tags: [String] = []) {
    self.age = age
    self.remainingLifetime = remainingLifetime
    self.tags = tags
  }

  /// Creates the details of a value with a timing.
  ///
  /// - Parameters:
  ///   - timing: The timing of the value.
  ///   - now: The present time.
  ///   - isNew: Whether the value was stored just now. Its age is then known to be zero.
  @usableFromInline
  convenience init(_ timing: Timing, at now: MonotonicTime, isNew: Bool = false) {
    self.init(
      age: isNew ? .zero : timing.age(at: now).map { .nanoseconds($0) },
      remainingLifetime: timing.remainingLifetime(at: now), tags: timing.tags.withoutRepetitions)
  }
}

extension Timing {
  /// Returns the nanoseconds since the value was stored; nil if they are not known.
  fileprivate func age(at now: MonotonicTime) -> UInt64? {
    switch self {
    case .plain: nil
    case .detailed(let details): details.age(at: now)
    }
  }

  /// Returns the time to the end of the lifetime, negative after that; nil for an unlimited lifetime.
  fileprivate func remainingLifetime(at now: MonotonicTime) -> Duration? {
    let end =
      switch self {
      case .plain(let deadline): deadline
      case .detailed(let details): details.deadlines.freshUntil
      }
    if end == .distantFuture { return nil }
    if case .stale(let age, _, _) = freshness(at: now) { return .zero - .nanoseconds(age) }
    return end > now ? .nanoseconds(end.nanoseconds - now.nanoseconds) : .zero
  }
}
