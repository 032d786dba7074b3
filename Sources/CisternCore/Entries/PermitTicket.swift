/// The place of a fetch among the fetches of equal priority that wait for a permit. A lower ticket goes first.
///
/// Fetches that enter for the first time get ascending tickets from the middle on, and fetches that return get
/// descending ones. A ticket does not wrap around.
struct PermitTicket: Sendable, Hashable, Comparable {
  private let number: UInt64

  /// The ticket between those of returning fetches and those of new ones. No fetch gets it.
  static var middle: PermitTicket { PermitTicket(number: 1 << 62) }

  /// Returns the next ticket of fetches that enter for the first time.
  func next() -> PermitTicket { PermitTicket(number: number + 1) }

  /// Returns the next ticket of fetches that return.
  func previous() -> PermitTicket { PermitTicket(number: number - 1) }

  static func < (left: PermitTicket, right: PermitTicket) -> Bool { left.number < right.number }
}
