import LMDB

/// What the writer thread took from all partitions at once, in the order in which it is put into the file: sorted by key,
/// so that neighbours share pages.
struct CommitRound {
  struct Item {
    let partition: Partition
    let entry: StagedEntry
  }

  /// What an item is sorted by, and where it was: small and plain, so that sorting moves little.
  private struct Place {
    /// Its part of the round, then its partition and whether its key is digested; or its batch.
    var group: Int
    /// The first eight bytes that the key sorts by in the file, as a number.
    let prefix: UInt64
    let index: Int
  }

  let batches: [PartitionBatch]
  private let taken: [Item]
  /// For each item in `taken` the batch that it is a part of; zero for none.
  private let units: [Int]
  /// Where the items are in `taken`, in their order.
  private let order: [Int]
  /// Every write up to here is in the round, was replaced by a later one, or was void.
  let through: UInt64
  /// Bytes and number of all that was taken, the void included.
  let takenBytes: Int
  let takenCount: Int

  init(batches: [PartitionBatch], through: UInt64, partBytes: Int = .max) {
    self.batches = batches
    self.through = through
    var items: [Item] = []
    var places: [Place] = []
    var bytes = 0
    var count = 0
    var units: [Int] = []
    var unitNumbers = UnitNumbers(first: batches.count * 2)
    for (number, batch) in batches.enumerated() {
      if batch.removesAll { count += 1 }
      count += batch.invalidated?.invalidations.count ?? 0
      for writes in batch.writes {
        writes.forEach { entry in
          bytes += entry.size
          count += 1
          guard entry.epoch == batch.epoch else { return }
          let key = entry.write.key
          let isDigest = key.count > DiskKey.longestDirectKey
          let unit = entry.batch == 0 ? 0 : unitNumbers.number(of: batch.links.root(of: entry.batch))
          let group = unit == 0 ? number * 2 + (isDigest ? 1 : 0) : unit
          places.append(Place(group: group, prefix: CommitRound.prefix(of: key.rawSpan), index: items.count))
          units.append(unit)
          items.append(Item(partition: batch.partition, entry: entry))
        }
      }
    }
    if bytes > partBytes {
      CommitRound.part(&places, items, units, partBytes: partBytes, groups: unitNumbers.next)
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

  /// The items, by their order.
  subscript(position: Int) -> Item { taken[order[position]] }

  /// How many items there are.
  var count: Int { order.count }

  /// The items from this one on that are put in one transaction: the rest of a batch, or the item alone.
  func unit(from position: Int) -> Range<Int> {
    let unit = units[order[position]]
    var end = position + 1
    while unit != 0, end < order.count, units[order[end]] == unit { end += 1 }
    return position..<end
  }

  /// About how many bytes of the file the items take up, and how many pages putting them touches.
  func size(of items: Range<Int>) -> (footprint: Int, pages: Int) {
    items.reduce((0, 0)) { sum, index in
      guard let draft = self[index].draft else { return (sum.0, sum.1 + 1) }
      return (sum.0 + draft.footprint, sum.1 + draft.pages)
    }
  }

  /// Whether the item is a part of a batch.
  func isBatched(_ position: Int) -> Bool { units[order[position]] != 0 }

  /// Numbers for batches, as they are met. None is zero.
  private struct UnitNumbers {
    private var numbers: [UInt64: Int] = [:]
    private(set) var next: Int

    init(first: Int) { next = first }

    mutating func number(of root: UInt64) -> Int {
      if let known = numbers[root] { return known }
      defer { next += 1 }
      numbers[root] = next
      return next
    }
  }

  /// Divides the places into parts of about so many bytes, in the order in which they were staged. A batch is in the part
  /// of its first item.
  private static func part(
    _ places: inout [Place], _ taken: [Item], _ units: [Int], partBytes: Int, groups: Int
  ) {
    var partsOfUnits: [Int: Int] = [:]
    places.sort { taken[$0.index].entry.number < taken[$1.index].entry.number }
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

  /// Whether there are removals of all or invalidations, which go before the items.
  var hasPreliminaries: Bool { batches.contains { $0.removesAll || $0.invalidated != nil } }

  private static func prefix(of key: RawSpan) -> UInt64 {
    if key.byteCount > DiskKey.longestDirectKey {
      return DiskKey(generation: 0, key: key).withBytes {
        $0.integer(at: DiskKey.prefixSize, as: UInt64.self).byteSwapped
      }
    }
    if key.byteCount >= 8 { return key.integer(at: 0, as: UInt64.self).byteSwapped }
    var prefix: UInt64 = 0
    for offset in 0..<8 { prefix = prefix << 8 | (offset < key.byteCount ? UInt64(key.byte(at: offset)) : 0) }
    return prefix
  }
}

extension CommitRound.Item {
  /// The record that is to be written; nil where the key's is to be removed.
  var draft: RecordDraft? {
    guard case .record(let key, let metadata, let bytes) = entry.write,
      !partition.invalidations.isVoid(metadata, key: key.rawSpan)
    else { return nil }
    return RecordDraft(key: key, metadata: metadata, bytes: bytes)
  }
}
