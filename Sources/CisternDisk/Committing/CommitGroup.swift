import CisternCore
import LMDB

/// A commit group: the writes that the writer thread takes from all partitions at once.
///
/// The items are sorted by their keys in the file, so that neighbors share pages. The items of a batch stay
/// together.
struct CommitGroup {
  struct Item {
    let partition: Partition
    let entry: StagedEntry
  }

  /// The number of a unit: the items of joined batches, which one transaction must put together.
  struct UnitNumber: Hashable {
    let number: Int
  }

  private(set) var changes: [PartitionChanges]
  /// The change for partitions that are not open; nil for none.
  let unopened: UnopenedChange?
  private let taken: [Item]
  /// The unit of each item in `taken`. Nil if the item belongs to no batch.
  private let units: [UnitNumber?]
  /// The tickets that the callers of a unit's batches wait for.
  private let ticketsOfUnits: [UnitNumber: [CommitTicket]]
  /// The indices in `taken`, in commit order.
  private let order: [Int]
  /// Every write up to this ticket is in this group or an earlier one, was replaced by a later write, or is void.
  let through: CommitTicket
  /// The size in bytes and the number of all writes that were taken, including void ones.
  let takenBytes: Int
  private(set) var takenCount: Int

  init(
    changes: [PartitionChanges], unopened: UnopenedChange? = nil, through: CommitTicket,
    batchTickets: [BatchNumber: CommitTicket] = [:], partBytes: Int = .max
  ) {
    var collected = CollectedItems(changes)
    self.changes = changes
    self.unopened = unopened
    self.through = through
    ticketsOfUnits = collected.tickets(of: batchTickets)
    if collected.bytes > partBytes { collected.divide(partBytes: partBytes) }
    order = collected.commitOrder()
    taken = collected.items
    units = collected.units
    takenBytes = collected.bytes
    takenCount = collected.count + (unopened?.change.count ?? 0)
  }

  /// Takes the invalidations that another file must get again. They precede the items, which are newer.
  mutating func takeRepeatedInvalidations(of partitions: [Partition]) {
    for partition in partitions {
      let (repeated, newest) = partition.invalidations.beginRepeating()
      if repeated.isEmpty { continue }
      takenCount += repeated.count
      let index = changes.firstIndex { $0.partition === partition } ?? changes.count
      if index == changes.count {
        changes.append(
          PartitionChanges(
            partition: partition, clearCount: partition.clearCount, clears: false, writes: [], links: BatchLinks()))
      }
      let known = changes[index].invalidated?.invalidations ?? [:]
      changes[index].invalidated = (
        invalidations: known.merging(repeated) { max($0, $1) }, invalidationVersion: newest
      )
    }
  }

  /// Takes the committed clear of a partition that was not open when the group was taken.
  ///
  /// The partition has not staged the clear itself. If another file is open before the group ends, the group commits
  /// the clear there, too, or stages it again.
  mutating func takeCommittedClear(of partition: Partition) {
    if changes.contains(where: { $0.partition === partition }) { return }
    partition.noteCommittedClear()
    changes.append(
      PartitionChanges(
        partition: partition, clearCount: partition.clearCount, clears: true, writes: [], links: BatchLinks()))
  }

  /// The item at a position of the commit order.
  subscript(position: Int) -> Item { taken[order[position]] }

  /// The number of items.
  var count: Int { order.count }

  /// Returns the items from `position` on that must be put in one transaction.
  ///
  /// These are the rest of a batch, or a single item.
  func unit(from position: Int) -> Range<Int> {
    var end = position + 1
    guard let unit = units[order[position]] else { return position..<end }
    while end < order.count, units[order[end]] == unit { end += 1 }
    return position..<end
  }

  /// The tickets that the callers of the batches at a position wait for. Later writes may have replaced the writes that
  /// have them.
  func batchTickets(at position: Int) -> [CommitTicket] {
    units[order[position]].flatMap { ticketsOfUnits[$0] } ?? []
  }

  /// Returns the approximate size of the items in the file, and the number of pages that putting them touches.
  func size(of items: Range<Int>) -> (footprint: Int, pages: Int) {
    items.reduce((0, 0)) { sum, index in
      guard let draft = self[index].draft else { return (sum.0, sum.1 + 1) }
      return (sum.0 + draft.footprint, sum.1 + draft.pages)
    }
  }

  /// Returns the number of pages that the separate records among the items need in a dense file.
  func separatePages(of items: Range<Int>, limits: ExtentLimits) -> Int {
    items.reduce(0) { sum, index in
      guard let size = self[index].draft?.packedSize, size > limits.layout.largestRecord else { return sum }
      return sum + limits.pages(ofSeparate: size)
    }
  }

  /// Returns whether the item belongs to a batch.
  func isBatched(_ position: Int) -> Bool { units[order[position]] != nil }

  /// Returns whether the item or batch at the position is too large for the sizes. A single record was compared with
  /// the disk limit when it was staged, so only a full device can be too small for it.
  func isUnfit(at position: Int, limits: DiskLimits, isDeviceFull: Bool) -> Bool {
    let isBatched = isBatched(position)
    guard isBatched || isDeviceFull else { return false }
    let limit = isBatched ? limits.pagesPerJoinedBatch : limits.largestRecord / DiskLimits.pageSize
    return size(of: unit(from: position)).footprint / DiskLimits.pageSize > limit
  }

  /// Returns the conflict of a record of the item or batch at the position with the codec that the file names, and its
  /// partition.
  func formatConflict(at position: Int) -> (partition: Partition, conflict: FormatConflict)? {
    guard position < count, changes.contains(where: { $0.partition.formats.hasConflicts }) else { return nil }
    for index in unit(from: position) {
      let item = self[index]
      guard case .record(_, let metadata, _) = item.entry.write,
        let conflict = item.partition.formats.conflict(ofVersion: metadata.schemaVersion)
      else { continue }
      return (item.partition, conflict)
    }
    return nil
  }

  var isEmpty: Bool { order.isEmpty && !hasPreliminaries }

  /// Whether the group has clears or invalidations. They are committed before the items.
  var hasPreliminaries: Bool { unopened != nil || changes.contains { $0.clears || $0.invalidated != nil } }
}

extension CommitGroup.Item {
  /// The record to write. Nil if the key's record must be removed.
  ///
  /// An invalidation of the same group that was staged after the record can conceal it. A commit would give the record
  /// a file version that the invalidation does not conceal.
  var draft: RecordDraft? {
    guard case .record(let key, let metadata, let bytes) = entry.write,
      !partition.invalidations.concealsTaken(metadata, key: key.rawSpan)
    else { return nil }
    return RecordDraft(key: key, metadata: metadata, bytes: bytes)
  }
}
