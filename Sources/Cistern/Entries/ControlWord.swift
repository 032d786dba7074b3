/// Eight control bytes in a word, each about one slot: empty, freed, or seven bits of the hash of the key that is in it.
/// All eight are looked at with a few operations on the word.
@usableFromInline
enum ControlWord {
  /// Never taken since the table was built: a search ends here.
  @inlinable static var emptyByte: UInt64 { 0x80 }
  /// Taken once, free now: a search goes on, an insertion may take it.
  @inlinable static var freedByte: UInt64 { 0xFE }
  @inlinable static var allEmpty: UInt64 { 0x8080_8080_8080_8080 }
  @inlinable static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
  @inlinable static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// The byte for a key's hash.
  @inlinable
  static func byte(_ fingerprint: UInt32) -> UInt64 { UInt64(fingerprint & 0x7F) }

  /// The byte for a key's hash, eight times.
  @inlinable
  static func pattern(_ fingerprint: UInt32) -> UInt64 { byte(fingerprint) &* lowBits }

  /// The high bit of each byte that may be the pattern's. Some are set for a byte that follows a match without being
  /// one; the keys tell.
  @inlinable
  static func matches(_ word: UInt64, _ pattern: UInt64) -> UInt64 {
    let difference = word ^ pattern
    return (difference &- lowBits) & ~difference & highBits
  }

  /// The high bit of each empty byte.
  @inlinable
  static func empty(_ word: UInt64) -> UInt64 { word & ~(word &<< 6) & highBits }

  /// The high bit of each byte that is empty or freed.
  @inlinable
  static func available(_ word: UInt64) -> UInt64 { word & highBits }

  /// Whether the high bit of the byte at an offset is set.
  @inlinable
  static func isSet(_ highBits: UInt64, at offset: Int) -> Bool {
    highBits &>> UInt64(truncatingIfNeeded: offset &* 8) & 0x80 != 0
  }

  /// The word with another byte at an offset.
  @inlinable
  static func setting(_ byte: UInt64, at offset: Int, in word: UInt64) -> UInt64 {
    let shift = UInt64(truncatingIfNeeded: offset &* 8)
    return word & ~(0xFF &<< shift) | byte &<< shift
  }

  /// The offsets of the slots that hold an entry.
  @inlinable
  static func full(_ word: UInt64) -> Offsets { Offsets(bits: ~word & highBits) }

  /// The offsets of bytes whose high bit is set, in order.
  @usableFromInline
  struct Offsets: Sequence, IteratorProtocol {
    @usableFromInline var bits: UInt64

    @inlinable
    init(bits: UInt64) {
      self.bits = bits
    }

    @inlinable
    mutating func next() -> Int? {
      guard bits != 0 else { return nil }
      defer { bits &= bits &- 1 }
      return bits.trailingZeroBitCount &>> 3
    }
  }
}
