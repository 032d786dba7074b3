/// The records of a tier that lists all of them in each call, in the order of their keys. An enumeration lists them
/// once.
///
/// A key that is written or removed after the list may or may not appear. A key whose record leaves later is in the
/// list, so it appears if memory holds its value.
final class ListedRecords: @unchecked Sendable {
  // Sendable holds: the chunk never changes, and it owns its memory.
  private let records: RecordChunk

  init(_ records: consuming RecordChunk) {
    self.records = records
  }

  /// Returns the first records of the range, whose prefix all records have.
  func chunk(in range: RecordRange) -> RecordChunk {
    var chunk = RecordChunk()
    let first = index(after: range.start)
    let end = min(first + range.limit, records.count)
    for index in first..<end {
      let record = records[index]
      let key = records.withKey(of: record) { $0.copiedBytes() }
      chunk.append(key: key.rawSpan, records.metadata(of: record))
    }
    if first < end, end < records.count { chunk.end = chunk.position(of: chunk[chunk.count - 1]) }
    return chunk
  }

  /// Returns the index of the first record behind a position.
  private func index(after position: KeyPosition?) -> Int {
    guard let position else { return 0 }
    var (low, high) = (0, records.count)
    while low < high {
      let middle = low + (high - low) / 2
      let isBehind = records.withKey(of: records[middle]) { position.precedes($0) }
      if isBehind { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
