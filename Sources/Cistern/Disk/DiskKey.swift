import LMDB

/// The key of a record in the file: the generation of its partition, and then the user's key, or the digest of a long
/// one. Held in place: building one allocates nothing.
///
/// Six bytes, the greatest first, hold twice the generation, and one more where a digest follows: the records of a
/// generation lie side by side, and no key can be taken for a digest.
struct DiskKey: KeyBytes {
  /// The longest key that is written as it is; of a longer one the digest is written, and the record holds the key.
  static let longestDirectKey = 64
  /// The bytes before the key.
  static let prefixSize = 6
  /// The bytes of a digest.
  static let digestSize = 16
  /// One more than the greatest generation.
  static let generationLimit: UInt64 = 1 << 47

  private var words: InlineArray<9, UInt64>
  let count: Int
  /// Whether the record must hold the key, because only its digest is here.
  let isDigest: Bool

  /// Calls `body` with the key, as it is written in the file.
  ///
  /// A closure, and not a view to be returned: the words may be moved once nothing but the view is left of them.
  @inline(__always)
  borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The words stay where they are while the closure runs, and have `count` bytes or more.
    let count = count
    return try unsafe withUnsafeBytes(of: words) { (buffer) throws(Failure) in
      try body(unsafe RawSpan(_unsafeStart: buffer.baseAddress!, byteCount: count))
    }
  }

  /// The key, as it is written in the file, copied.
  func copiedBytes() -> [UInt8] { withBytes { $0.copiedBytes() } }

  /// Builds the key of `key` in `generation`.
  @inline(__always)
  init(generation: UInt64, key: RawSpan) {
    words = InlineArray(repeating: 0)
    isDigest = key.byteCount > DiskKey.longestDirectKey
    if isDigest {
      count = DiskKey.prefixSize + DiskKey.digestSize
      writeDigest(of: key)
    } else {
      count = DiskKey.prefixSize + key.byteCount
      write(key)
    }
    writePrefix((generation << 1) | (isDigest ? 1 : 0))
  }

  /// The bytes that every key of the generation begins with, digested ones included, are not less than these; the
  /// keys of the next generation are greater.
  init(startOf generation: UInt64) {
    words = InlineArray(repeating: 0)
    isDigest = false
    count = DiskKey.prefixSize
    writePrefix(generation << 1)
  }

  /// The key that these bytes of the file are; nil where they are none.
  init?(_ bytes: RawSpan) {
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
  var generation: UInt64 { withBytes { DiskKey.generation(of: $0) ?? 0 } }

  /// The user's key, where it is here.
  var directKey: [UInt8] { withBytes { $0.extracting(DiskKey.prefixSize..<count).copiedBytes() } }

  /// The generation of a key in the file; nil where the bytes are too few for one.
  static func generation(of bytes: RawSpan) -> UInt64? {
    guard bytes.byteCount >= prefixSize else { return nil }
    var prefix: UInt64 = 0
    for offset in 0..<prefixSize { prefix = prefix << 8 | UInt64(bytes.byte(at: offset)) }
    return prefix >> 1
  }

  /// Whether a key in the file, of at least the prefix's length, holds a digest.
  static func isDigest(_ bytes: RawSpan) -> Bool { bytes.byte(at: prefixSize - 1) & 1 == 1 }

  private mutating func writePrefix(_ prefix: UInt64) {
    // The six bytes are the low ones of the number, greatest first; in the word the first byte is the lowest.
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
