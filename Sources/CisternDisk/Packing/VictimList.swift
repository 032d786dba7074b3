import CisternCore

/// The records of an extent that is reclaimed, in the order of their digests.
///
/// A closed extent does not change, so each process lists the same records. Neighbors in the list share leaves of the
/// index.
struct VictimList: Sendable, Equatable {
  struct Entry: Sendable, Equatable {
    let digest: RecordDigest
    /// The offset in the extent.
    let offset: UInt32
    /// The size of the record without the zeros at its end.
    let size: UInt32
    let partition: PartitionNumber
  }

  let number: ExtentNumber
  private(set) var entries: [Entry] = []
  /// Whether the list has all records. A damaged size hides those that follow, even if it is only too large for a copy.
  private(set) var isComplete = true
  /// The number of bytes of all listed records.
  private(set) var byteCount = 0

  /// Lists the records of an extent.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the extent after its header, up to the end of its records.
  ///   - number: The number of the extent.
  ///   - limits: The sizes of the file.
  init(_ bytes: RawSpan, number: ExtentNumber, limits: ExtentLimits) {
    self.number = number
    let end = ExtentLayout.headerSize + bytes.byteCount
    var offset = ExtentLayout.headerSize
    while offset < end {
      let nextPage = min((offset / limits.pageSize + 1) * limits.pageSize, end)
      if offset % limits.pageSize != 0, Self.areZeros(bytes, offset, nextPage) {
        offset = nextPage
        continue
      }
      let rest = bytes.extracting(offset - ExtentLayout.headerSize..<bytes.byteCount)
      let address = RecordAddress(number, offset: offset, in: limits.layout)
      guard let header = PackedHeader(trusting: rest, at: address), header.size <= limits.layout.largestRecord else {
        isComplete = false
        break
      }
      entries.append(
        Entry(
          digest: RecordDigest(of: rest.extracting(header.key)), offset: UInt32(offset), size: UInt32(header.size),
          partition: header.partition))
      byteCount += header.room
      offset += header.room
    }
    entries.sort { ($0.digest, $0.offset) < ($1.digest, $1.offset) }
  }

  /// Returns whether all records have correct checksums.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that were listed.
  ///   - layout: The layout of the extents.
  /// - Returns: Whether the records are sound.
  func isSound(_ bytes: RawSpan, in layout: ExtentLayout) -> Bool {
    isComplete
      && entries.allSatisfy { entry in
        let start = Int(entry.offset) - ExtentLayout.headerSize
        guard start < bytes.byteCount else { return false }
        let address = RecordAddress(number, offset: Int(entry.offset), in: layout)
        return PackedHeader(bytes.extracting(start..<bytes.byteCount), at: address) != nil
      }
  }

  /// Returns whether the bytes between two offsets are zeros. These end the records of a page.
  private static func areZeros(_ bytes: RawSpan, _ start: Int, _ end: Int) -> Bool {
    (start..<end).allSatisfy { bytes.byte(at: $0 - ExtentLayout.headerSize) == 0 }
  }
}
