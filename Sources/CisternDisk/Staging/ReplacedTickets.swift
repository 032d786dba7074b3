import CisternCore

/// The tickets of the writes of a key that a staged write has replaced before the writer thread took them.
///
/// Callers can wait for these tickets. If the staged write is given up, neither it nor any of these writes is on disk.
struct ReplacedTickets: Sendable {
  /// The number of ranges above which the two oldest ones become one.
  ///
  /// A key can be written without end while the disk is slow. The joined range has tickets of other keys, too, whose
  /// callers can get an error although their writes are on disk.
  static let mostRanges = 32

  /// Ranges of tickets, in ascending order.
  private(set) var ranges: [ClosedRange<CommitTicket>] = []

  /// The size of the ranges, as it counts towards the bound on staged writes.
  var byteCount: Int { ranges.count * MemoryLayout<ClosedRange<CommitTicket>>.stride }

  /// Adds a ticket, which must be greater than all others.
  mutating func add(_ ticket: CommitTicket) {
    let last = ranges.count - 1
    if last >= 0, ranges[last].upperBound.next() == ticket {
      // Writes of one key in a row need no further memory.
      ranges[last] = ranges[last].lowerBound...ticket
      return
    }
    if ranges.count == Self.mostRanges { ranges[0...1] = [ranges[0].lowerBound...ranges[1].upperBound] }
    ranges.append(ticket...ticket)
  }
}
