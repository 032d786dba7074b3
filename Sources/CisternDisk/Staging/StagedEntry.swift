import CisternCore

/// A staged write with its position in the order of all staged writes.
struct StagedEntry: Sendable {
  let write: StagedWrite
  let ticket: CommitTicket
  /// The clear count of the partition at the time of staging. An entry with an earlier clear count is void.
  let clearCount: ClearCount
  /// The write's size in bytes with its replaced tickets, as it counts towards the bound on staged writes.
  private(set) var size: Int
  /// The batch that the write is a part of; nil if the write is single.
  var batch: BatchNumber?
  /// The record on disk that the write may replace or remove; nil for any.
  ///
  /// Such a write is not the key's newest unless the condition holds for the record on disk.
  var condition: RecordCondition?
  /// Whether an invalidation concealed the write when a reader looked it up.
  var isConcealed = false
  /// The tickets of earlier writes of the key, which this one has replaced.
  private var replacedTickets = ReplacedTickets()

  init(
    write: StagedWrite, ticket: CommitTicket, clearCount: ClearCount, batch: BatchNumber? = nil,
    condition: RecordCondition? = nil
  ) {
    self.write = write
    self.ticket = ticket
    self.clearCount = clearCount
    self.batch = batch
    self.condition = condition
    size = write.stagedSize
  }

  /// Whether it writes the key's record again. The record on disk counts as the key's newest until the commit.
  var isRewrite: Bool {
    guard condition != nil, case .record = write else { return false }
    return true
  }

  /// The tickets whose callers must get an error if the write is given up.
  var tickets: [ClosedRange<CommitTicket>] { replacedTickets.ranges + [ticket...ticket] }

  /// Takes the tickets of the write that this one replaces.
  ///
  /// The list moves from the replaced write, so that many writes of one key copy nothing.
  mutating func takeTickets(of replaced: inout StagedEntry) {
    swap(&replacedTickets, &replaced.replacedTickets)
    replacedTickets.add(replaced.ticket)
    size = write.stagedSize + replacedTickets.byteCount
  }
}

extension StagedEntry {
  /// Takes the condition of an earlier write of the key that is not on disk, if this write replaces or removes its
  /// record.
  ///
  /// The disk has the record before that write. Otherwise, readers would see that older record again.
  mutating func takeCondition(of earlier: StagedEntry) {
    if let condition, condition.holds(for: earlier.write) { self.condition = earlier.condition }
  }
}
