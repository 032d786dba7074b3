import CisternCore
import LMDB

/// The key of a record in the file: the generation of its partition, and then the user's key, or the digest of a
/// long one.
///
/// The first six bytes are a big-endian number: twice the generation, plus one if a digest follows. The records of
/// a generation are therefore adjacent, and no user's key equals a digest. The bytes are stored inline, so that
/// creating a key allocates nothing.
package struct DiskKey: KeyBytes {
  /// The maximum length of a user's key in the file, in bytes. A longer key is replaced by its digest, and the
  /// record holds the key.
  package static let longestDirectKey = 64
  /// The number of bytes before the user's key or the digest.
  package static let prefixSize = 6
  /// The number of bytes of a digest.
  static let digestSize = 16
  /// The exclusive upper bound of generations.
  package static let generationLimit = Generation(number: 1 << 47)

  private var words: InlineArray<9, UInt64>
  /// The number of bytes of the key.
  let count: Int
  /// Whether the key has a digest, so that the record holds the user's key.
  package let isDigest: Bool

  /// Calls `body` with the encoded key.
  ///
  /// This method does not return a span, because the words can move while only the span is in use.
  @inline(__always)
  package borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The words stay in place while the closure runs, and have at least `count` bytes.
    let count = count
    return try unsafe withUnsafeBytes(of: words) { (buffer) throws(Failure) in
      try body(unsafe RawSpan(_unsafeStart: buffer.baseAddress!, byteCount: count))
    }
  }

  /// Returns a copy of the encoded key.
  package func copiedBytes() -> [UInt8] { withBytes { $0.copiedBytes() } }

  /// Creates the key of `key` in `generation`.
  @inline(__always)
  package init(generation: Generation, key: RawSpan) {
    words = InlineArray(repeating: 0)
    isDigest = key.byteCount > DiskKey.longestDirectKey
    if isDigest {
      count = DiskKey.prefixSize + DiskKey.digestSize
      writeDigest(of: key)
    } else {
      count = DiskKey.prefixSize + key.byteCount
      write(key)
    }
    writePrefix((generation.number << 1) | (isDigest ? 1 : 0))
  }

  /// Creates the lower bound of all keys of the generation, including keys with a digest.
  ///
  /// The keys of the next generation are greater.
  package init(startOf generation: Generation) {
    words = InlineArray(repeating: 0)
    isDigest = false
    count = DiskKey.prefixSize
    writePrefix(generation.number << 1)
  }

  /// Returns the bytes at which the keys of the generation with this position begin. They are not longer than a key.
  static func bytes(of generation: Generation, at position: KeyPosition) -> [UInt8] {
    let start = DiskKey(startOf: generation).copiedBytes()
    var bytes = start.dropLast() + [start[prefixSize - 1] | (position.isDigest ? 1 : 0)]
    bytes += position.bytes.prefix(longestDirectKey)
    return Array(bytes)
  }

  /// Creates the key that the bytes of the file encode. Returns nil if they encode none.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= DiskKey.prefixSize, bytes.byteCount <= DiskKey.prefixSize + DiskKey.longestDirectKey else {
      return nil
    }
    isDigest = DiskKey.isDigest(bytes)
    if isDigest, bytes.byteCount != DiskKey.prefixSize + DiskKey.digestSize { return nil }
    words = InlineArray(repeating: 0)
    count = bytes.byteCount
    copy(bytes, to: 0)
  }

  /// The generation that the key belongs to.
  package var generation: Generation { withBytes { DiskKey.generation(of: $0) ?? .zero } }

  /// The user's key, or its digest.
  package var directKey: [UInt8] { withBytes { $0.extracting(DiskKey.prefixSize..<count).copiedBytes() } }

  /// Returns the generation of a key in the file, or nil if the bytes are too few.
  @inline(__always)
  package static func generation(of bytes: RawSpan) -> Generation? {
    guard bytes.byteCount >= prefixSize else { return nil }
    let high = UInt64(bytes.integer(at: 0, as: UInt32.self).byteSwapped)
    let low = UInt64(bytes.integer(at: 4, as: UInt16.self).byteSwapped)
    return Generation(number: (high << 16 | low) >> 1)
  }

  /// Returns whether a key in the file has a digest. The key must be at least as long as the prefix.
  package static func isDigest(_ bytes: RawSpan) -> Bool { bytes.byte(at: prefixSize - 1) & 1 == 1 }

  private mutating func writePrefix(_ prefix: UInt64) {
    // The six bytes are the low bytes of `prefix`, the most significant first. The first byte of a word is its
    // lowest.
    words[0] = (words[0] & ~0xFFFF_FFFF_FFFF) | UInt64(littleEndian: (prefix << 16).bigEndian)
  }

  private mutating func writeDigest(of key: RawSpan) {
    var span = words.mutableSpan
    var bytes = span.bytesForWriting
    let low = Checksum.of(key, seed: 0x9ae1_6a3b_2f90_404f)
    let high = Checksum.of(key, seed: 0xc949_c7de_cb5b_e8d5)
    bytes.storeBytes(of: low.littleEndian, toByteOffset: DiskKey.prefixSize, as: UInt64.self)
    bytes.storeBytes(of: high.littleEndian, toByteOffset: DiskKey.prefixSize + 8, as: UInt64.self)
  }

  @inline(__always)
  private mutating func write(_ key: RawSpan) { copy(key, to: DiskKey.prefixSize) }

  @inline(__always)
  private mutating func copy(_ source: RawSpan, to offset: Int) {
    var span = words.mutableSpan
    var bytes = span.bytesForWriting
    bytes.copy(source, to: offset)
  }
}
