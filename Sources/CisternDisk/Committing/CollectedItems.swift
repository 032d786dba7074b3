import CisternCore
import LMDB

/// The items of a commit group while the group is made, and the order in which they are committed.
struct CollectedItems {
  typealias UnitNumber = CommitGroup.UnitNumber

  /// The sort key of an item, and its index. This type is small and trivial, so that sorting moves little memory.
  private struct SortKey {
    /// The item's part of the group, and then either its unit, or its partition and whether its key is digested.
    var rank: Int
    /// The first eight bytes by which the file sorts the key, as a number.
    let prefix: UInt64
    /// The index in `items`.
    let index: Int
  }

  private(set) var items: [CommitGroup.Item] = []
  /// The unit of each item. Nil if the item belongs to no batch.
  private(set) var units: [UnitNumber?] = []
  /// The size in bytes and the number of all writes that were taken, including void ones.
  private(set) var bytes = 0
  private(set) var count = 0
  private var sortKeys: [SortKey] = []
  /// The units of all partitions, by the batch that represents them. Their numbers follow those of the partitions.
  private var unitsByRoot: [BatchNumber: UnitNumber] = [:]
  /// The links of all partitions. A batch can have writes in several, and each partition has joined only its own.
  private var links = BatchLinks()
  private let partitionRanks: Int

  init(_ changesOfPartitions: [PartitionChanges]) {
    partitionRanks = changesOfPartitions.count * 2
    for changes in changesOfPartitions { links.join(changes.links) }
    for (number, changes) in changesOfPartitions.enumerated() {
      if changes.clears { count += 1 }
      count += changes.invalidated?.invalidations.count ?? 0
      for writes in changes.writes {
        writes.forEach { entry in
          bytes += entry.size
          count += 1
          guard entry.clearCount == changes.clearCount else { return }
          add(entry, of: changes, at: number)
        }
      }
    }
  }

  private mutating func add(_ entry: StagedEntry, of changes: PartitionChanges, at number: Int) {
    let key = entry.write.key
    let unit = entry.batch.map { unitNumber(of: links.root(of: $0)) }
    // Keys that are digested follow the others of their partition.
    let rank = unit?.number ?? number * 2 + (key.count > DiskKey.longestDirectKey ? 1 : 0)
    sortKeys.append(SortKey(rank: rank, prefix: Self.prefix(of: key.rawSpan), index: items.count))
    units.append(unit)
    items.append(CommitGroup.Item(partition: changes.partition, entry: entry))
  }

  /// Returns the unit of a batch. Units have numbers in the order of their first items.
  private mutating func unitNumber(of root: BatchNumber) -> UnitNumber {
    if let known = unitsByRoot[root] { return known }
    let unit = UnitNumber(number: rankCount)
    unitsByRoot[root] = unit
    return unit
  }

  /// The number of ranks within a part.
  private var rankCount: Int { partitionRanks + unitsByRoot.count }

  /// Returns the tickets by the units of their batches.
  func tickets(of batchTickets: [BatchNumber: CommitTicket]) -> [UnitNumber: [CommitTicket]] {
    var tickets: [UnitNumber: [CommitTicket]] = [:]
    for (batch, ticket) in batchTickets {
      if let unit = unitsByRoot[links.root(of: batch)] { tickets[unit, default: []].append(ticket) }
    }
    return tickets
  }

  /// Divides the items into parts of about `partBytes`, in staging order.
  ///
  /// A batch belongs to the part of its first item.
  mutating func divide(partBytes: Int) {
    let items = items
    var partsOfUnits: [UnitNumber: Int] = [:]
    sortKeys.sort { items[$0.index].entry.ticket < items[$1.index].entry.ticket }
    var part = 0
    var bytes = 0
    for index in sortKeys.indices {
      var own = part
      if let unit = units[sortKeys[index].index] {
        own = partsOfUnits[unit, default: part]
        partsOfUnits[unit] = own
      }
      sortKeys[index].rank += own * rankCount
      bytes += items[sortKeys[index].index].entry.size
      if bytes >= partBytes {
        bytes = 0
        part += 1
      }
    }
  }

  /// Returns the indices of the items in the order of their commit.
  mutating func commitOrder() -> [Int] {
    let items = items
    sortKeys.sort { left, right in
      if left.rank != right.rank { return left.rank < right.rank }
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      return items[left.index].entry.write.key.rawSpan.precedes(items[right.index].entry.write.key.rawSpan)
    }
    return sortKeys.map(\.index)
  }

  private static func prefix(of key: RawSpan) -> UInt64 {
    if key.byteCount > DiskKey.longestDirectKey {
      return DiskKey(generation: .zero, key: key).withBytes {
        $0.integer(at: DiskKey.prefixSize, as: UInt64.self).byteSwapped
      }
    }
    if key.byteCount >= 8 { return key.integer(at: 0, as: UInt64.self).byteSwapped }
    var prefix: UInt64 = 0
    for offset in 0..<8 { prefix = prefix << 8 | (offset < key.byteCount ? UInt64(key.byte(at: offset)) : 0) }
    return prefix
  }
}
