/// The place of an event in the order of a cache's events. Numbers have no gaps, so a consumer can count the dropped
/// events.
struct EventNumber: Sendable, Equatable {
  private var number: UInt64 = 0

  /// Counts an event.
  mutating func raise() { number += 1 }

  /// Returns the number of events after `earlier` and before this one.
  func events(since earlier: EventNumber) -> Int { Int(clamping: number - min(number, earlier.number + 1)) }
}
