import LMDB

@testable import CisternDisk

/// The values of extents as arrays of bytes. A write can fail after a part of its bytes.
struct ByteExtents: ExtentValues {
  let layout: ExtentLayout
  private(set) var values: [ExtentNumber: [UInt8]] = [:]
  /// The number of writes until one fails; nil for none.
  var writesUntilFailure: Int?
  private(set) var writes: [(extent: ExtentNumber, range: Range<Int>)] = []

  init(layout: ExtentLayout) { self.layout = layout }

  /// Adds an extent. Its bytes are not zero, as after earlier uses.
  mutating func add(_ number: ExtentNumber) { values[number] = [UInt8](repeating: 0xA5, count: layout.size) }

  mutating func remove(_ number: ExtentNumber) { values[number] = nil }

  mutating func write(_ bytes: RawSpan, at offset: Int, in extent: ExtentNumber) throws(LMDBError) {
    precondition(values[extent] != nil && offset >= ExtentLayout.headerSize && offset + bytes.byteCount <= layout.size)
    var count = bytes.byteCount
    if writesUntilFailure == 0 { count /= 2 }
    values[extent]?.replaceSubrange(offset..<offset + count, with: bytes.extracting(0..<count).copiedBytes())
    writes.append((extent, offset..<offset + count))
    guard let left = writesUntilFailure else { return }
    writesUntilFailure = max(left - 1, 0)
    if left == 0 { throw LMDBError(.noSpace, operation: "write", message: "the disk is full") }
  }

  func withBytes<Result>(
    of extent: ExtentNumber, from offset: Int, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard let bytes = values[extent], offset <= bytes.count else { return nil }
    return try body(bytes.rawSpan.extracting(offset..<bytes.count))
  }

  /// Damages a byte of an extent.
  mutating func flip(_ bit: Int, of extent: ExtentNumber) {
    values[extent]?[bit / 8] ^= 1 << UInt8(bit % 8)
  }
}
