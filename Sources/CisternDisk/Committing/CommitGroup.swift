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

  /// The sort key of an item, and its index. This type is small and trivial, so that sorting moves little memory.
  private struct Place {
    /// The item's part of the group, and then either its batch, or its partition and whether its key is digested.
    var group: Int
    /// The first eight bytes by which the file sorts the key, as a number.
    let prefix: UInt64
    /// The index in `taken`.
    let index: Int
  }

  let batches: [PartitionBatch]
  /// The change for partitions that are not open; nil for none.
  let unopened: UnopenedChange?
  private let taken: [Item]
  /// The batch of each item in `taken`. Zero if the item belongs to no batch.
  private let units: [Int]
  /// The tickets that the callers of a unit's batches wait for.
  private let ticketsOfUnits: [Int: [CommitTicket]]
  /// The indices in `taken`, in commit order.
  private let order: [Int]
  /// Every write up to this ticket is in this group or an earlier one, was replaced by a later write, or is void.
  let through: CommitTicket
  /// The size in bytes and the number of all writes that were taken, including void ones.
  let takenBytes: Int
  let takenCount: Int

  init(
    batches: [PartitionBatch], unopened: UnopenedChange? = nil, through: CommitTicket,
    batchTickets: [BatchNumber: CommitTicket] = [:], partBytes: Int = .max
  ) {
    self.batches = batches
    self.unopened = unopened
    self.through = through
    var items: [Item] = []
    var places: [Place] = []
    var bytes = 0
    var count = unopened?.change.count ?? 0
    var units: [Int] = []
    var unitNumbers = UnitNumbers(first: batches.count * 2)
    // A batch can have writes in several partitions, and each partition has joined only its own.
    var links = BatchLinks()
    for batch in batches { links.join(batch.links) }
    for (number, batch) in batches.enumerated() {
      if batch.removesAll { count += 1 }
      count += batch.invalidated?.invalidations.count ?? 0
      for writes in batch.writes {
        writes.forEach { entry in
          bytes += entry.size
          count += 1
          guard entry.clearCount == batch.clearCount else { return }
          let key = entry.write.key
          let isDigest = key.count > DiskKey.longestDirectKey
          let unit = entry.batch == .zero ? 0 : unitNumbers.number(of: links.root(of: entry.batch))
          let group = unit == 0 ? number * 2 + (isDigest ? 1 : 0) : unit
          places.append(Place(group: group, prefix: CommitGroup.prefix(of: key.rawSpan), index: items.count))
          units.append(unit)
          items.append(Item(partition: batch.partition, entry: entry))
        }
      }
    }
    var ticketsOfUnits: [Int: [CommitTicket]] = [:]
    for (batch, ticket) in batchTickets {
      if let unit = unitNumbers.known(links.root(of: batch)) { ticketsOfUnits[unit, default: []].append(ticket) }
    }
    self.ticketsOfUnits = ticketsOfUnits
    if bytes > partBytes {
      CommitGroup.part(&places, items, units, partBytes: partBytes, groups: unitNumbers.next)
    }
    places.sort { left, right in
      if left.group != right.group { return left.group < right.group }
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      return items[left.index].entry.write.key.rawSpan.precedes(items[right.index].entry.write.key.rawSpan)
    }
    taken = items
    self.units = units
    takenBytes = bytes
    takenCount = count
    order = places.map(\.index)
  }

  /// The item at a position of the commit order.
  subscript(position: Int) -> Item { taken[order[position]] }

  /// The number of items.
  var count: Int { order.count }

  /// Returns the items from `position` on that must be put in one transaction.
  ///
  /// These are the rest of a batch, or a single item.
  func unit(from position: Int) -> Range<Int> {
    let unit = units[order[position]]
    var end = position + 1
    while unit != 0, end < order.count, units[order[end]] == unit { end += 1 }
    return position..<end
  }

  /// The tickets that the callers of the batches at a position wait for. Later writes may have replaced the writes that
  /// have them.
  func batchTickets(at position: Int) -> [CommitTicket] { ticketsOfUnits[units[order[position]]] ?? [] }

  /// Returns the approximate size of the items in the file, and the number of pages that putting them touches.
  func size(of items: Range<Int>) -> (footprint: Int, pages: Int) {
    items.reduce((0, 0)) { sum, index in
      guard let draft = self[index].draft else { return (sum.0, sum.1 + 1) }
      return (sum.0 + draft.footprint, sum.1 + draft.pages)
    }
  }

  /// Returns whether the item belongs to a batch.
  func isBatched(_ position: Int) -> Bool { units[order[position]] != 0 }

  /// Returns whether the item or batch at the position is too large for the sizes. A single record was compared with
  /// the disk limit when it was staged, so only a full device can be too small for it.
  func isUnfit(at position: Int, limits: DiskLimits, isDeviceFull: Bool) -> Bool {
    let isBatched = isBatched(position)
    guard isBatched || isDeviceFull else { return false }
    let limit = isBatched ? limits.pagesPerJoinedBatch : limits.largestRecord / DiskLimits.pageSize
    return size(of: unit(from: position)).footprint / DiskLimits.pageSize > limit
  }

  /// Numbers for batches, in the order of their first items. No number is zero.
  private struct UnitNumbers {
    private var numbers: [BatchNumber: Int] = [:]
    private(set) var next: Int

    init(first: Int) { next = first }

    func known(_ root: BatchNumber) -> Int? { numbers[root] }

    mutating func number(of root: BatchNumber) -> Int {
      if let known = numbers[root] { return known }
      defer { next += 1 }
      numbers[root] = next
      return next
    }
  }

  /// Divides the places into parts of about `partBytes`, in staging order.
  ///
  /// A batch belongs to the part of its first item.
  private static func part(
    _ places: inout [Place], _ taken: [Item], _ units: [Int], partBytes: Int, groups: Int
  ) {
    var partsOfUnits: [Int: Int] = [:]
    places.sort { taken[$0.index].entry.ticket < taken[$1.index].entry.ticket }
    var part = 0
    var bytes = 0
    for index in places.indices {
      let unit = units[places[index].index]
      let own = unit == 0 ? part : partsOfUnits[unit, default: part]
      if unit != 0 { partsOfUnits[unit] = own }
      places[index].group += own * groups
      bytes += taken[places[index].index].entry.size
      if bytes >= partBytes {
        bytes = 0
        part += 1
      }
    }
  }

  var isEmpty: Bool { order.isEmpty && !hasPreliminaries }

  /// Whether the group has removals of all records, or invalidations. They are committed before the items.
  var hasPreliminaries: Bool { unopened != nil || batches.contains { $0.removesAll || $0.invalidated != nil } }

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

extension CommitGroup.Item {
  /// The record to write. Nil if the key's record must be removed.
  ///
  /// An invalidation that was staged after the record can make the record void.
  var draft: RecordDraft? {
    guard case .record(let key, let metadata, let bytes) = entry.write,
      !partition.invalidations.isVoid(metadata, key: key.rawSpan)
    else { return nil }
    return RecordDraft(key: key, metadata: metadata, bytes: bytes)
  }
}
