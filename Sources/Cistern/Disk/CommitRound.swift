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
    /// Its part of the round, then its batch, and whether its key is digested.
    var group: Int
    /// The first eight bytes that the key sorts by in the file, as a number.
    let prefix: UInt64
    let index: Int
  }

  let batches: [PartitionBatch]
  private let taken: [Item]
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
          places.append(
            Place(
              group: number * 2 + (isDigest ? 1 : 0), prefix: CommitRound.prefix(of: key.rawSpan), index: items.count))
          items.append(Item(partition: batch.partition, entry: entry))
        }
      }
    }
    if bytes > partBytes { CommitRound.part(&places, items, partBytes: partBytes, groups: batches.count * 2) }
    places.sort { left, right in
      if left.group != right.group { return left.group < right.group }
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      return items[left.index].entry.write.key.rawSpan.precedes(items[right.index].entry.write.key.rawSpan)
    }
    taken = items
    takenBytes = bytes
    takenCount = count
    order = places.map(\.index)
  }

  /// The items, by their order.
  subscript(position: Int) -> Item { taken[order[position]] }

  /// How many items there are.
  var count: Int { order.count }

  /// Divides the places into parts of about so many bytes, in the order in which they were staged.
  private static func part(_ places: inout [Place], _ taken: [Item], partBytes: Int, groups: Int) {
    places.sort { taken[$0.index].entry.number < taken[$1.index].entry.number }
    var part = 0
    var bytes = 0
    for index in places.indices {
      places[index].group += part * groups
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
      return DiskKey(generation: 0, key: key).bytes.integer(at: DiskKey.prefixSize, as: UInt64.self).byteSwapped
    }
    if key.byteCount >= 8 { return key.integer(at: 0, as: UInt64.self).byteSwapped }
    var prefix: UInt64 = 0
    for offset in 0..<8 { prefix = prefix << 8 | (offset < key.byteCount ? UInt64(key.byte(at: offset)) : 0) }
    return prefix
  }
}
