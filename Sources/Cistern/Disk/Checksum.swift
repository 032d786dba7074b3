/// A 64-bit checksum that keeps up with memory: it finds damage, and is no defence against forgery.
///
/// Four lanes multiply and fold 64 bytes a round (the multiply-fold step is Wang Yi's, of wyhash; the arrangement and
/// the constants are this file's). Bits that differ anywhere change the result, but for about one time in 2⁶⁴.
enum Checksum {
  // Odd numbers with about as many ones as zeros, from the binary digits of √2, √3, √5, √7 and √11.
  private static let first: UInt64 = 0x6a09_e667_f3bc_c909
  private static let second: UInt64 = 0xbb67_ae85_84ca_a73b
  private static let third: UInt64 = 0x3c6e_f372_fe94_f82b
  private static let fourth: UInt64 = 0xa54f_f53a_5f1d_36f1
  private static let fifth: UInt64 = 0x510e_527f_ade6_82d1

  /// The checksum of `bytes`; another `seed` gives an unrelated one.
  @inline(__always)
  static func of(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    let count = bytes.byteCount
    if count <= 16 { return ofFew(bytes, seed: seed) }
    return ofMany(bytes, seed: seed)
  }

  private static func ofMany(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    let count = bytes.byteCount
    var lane0 = seed ^ first
    var offset = 0
    if count > 64 {
      var lane1 = seed ^ second
      var lane2 = seed ^ third
      var lane3 = seed ^ fourth
      // In bounds: stops with 1 to 64 bytes to go.
      while offset &+ 64 < count {
        // What comes before that was asked for by whoever found the bytes.
        bytes.prefetchLine(at: offset &+ RawSpan.prefetchedSize)
        lane0 = unsafe multiplyFold(
          bytes.uncheckedWord(at: offset) ^ second, bytes.uncheckedWord(at: offset &+ 8) ^ lane0)
        lane1 = unsafe multiplyFold(
          bytes.uncheckedWord(at: offset &+ 16) ^ third, bytes.uncheckedWord(at: offset &+ 24) ^ lane1)
        lane2 = unsafe multiplyFold(
          bytes.uncheckedWord(at: offset &+ 32) ^ fourth, bytes.uncheckedWord(at: offset &+ 40) ^ lane2)
        lane3 = unsafe multiplyFold(
          bytes.uncheckedWord(at: offset &+ 48) ^ fifth, bytes.uncheckedWord(at: offset &+ 56) ^ lane3)
        offset &+= 64
      }
      lane0 = multiplyFold(lane0 ^ fifth, lane1 ^ third) ^ multiplyFold(lane2 ^ first, lane3 ^ second)
    }
    while offset &+ 16 < count {
      lane0 = unsafe multiplyFold(
        bytes.uncheckedWord(at: offset) ^ second, bytes.uncheckedWord(at: offset &+ 8) ^ lane0)
      offset &+= 16
    }
    // In bounds: the last 16 bytes of more than 16, some of them for the second time.
    let low = unsafe bytes.uncheckedWord(at: count &- 16)
    let high = unsafe bytes.uncheckedWord(at: count &- 8)
    return multiplyFold(multiplyFold(low ^ third, high ^ lane0) ^ UInt64(truncatingIfNeeded: count), fourth ^ seed)
  }

  private static func ofFew(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    let count = bytes.byteCount
    var low: UInt64 = 0
    var high: UInt64 = 0
    if count >= 8 {
      // In bounds: there are eight bytes or more.
      low = unsafe bytes.uncheckedWord(at: 0)
      high = unsafe bytes.uncheckedWord(at: count &- 8)
    } else {
      // Up to seven bytes, each in a place of its own.
      var offset = 0
      while offset < count {
        // Bounded by the loop.
        let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        low |= UInt64(byte) &<< UInt64(truncatingIfNeeded: offset &* 8)
        offset &+= 1
      }
    }
    return multiplyFold(
      multiplyFold(low ^ third, high ^ seed ^ first) ^ UInt64(truncatingIfNeeded: count), fourth ^ seed)
  }
}
