import CisternCore

/// A 64-bit checksum at about the speed of memory. It detects damage, and does not protect against forgery.
///
/// Four lanes process 64 bytes per iteration with the multiply-fold step of Wang Yi's wyhash. The arrangement and
/// the constants are specific to this file. Different bytes have equal checksums with a probability of about 2⁻⁶⁴.
///
/// Data files store checksums and digests, so a change of the algorithm requires a new file format.
enum Checksum {
  // Odd numbers with about as many ones as zeros, from the binary digits of √2, √3, √5, √7 and √11.
  private static let first: UInt64 = 0x6a09_e667_f3bc_c909
  private static let second: UInt64 = 0xbb67_ae85_84ca_a73b
  private static let third: UInt64 = 0x3c6e_f372_fe94_f82b
  private static let fourth: UInt64 = 0xa54f_f53a_5f1d_36f1
  private static let fifth: UInt64 = 0x510e_527f_ade6_82d1

  /// Returns the checksum of `bytes`. Different seeds give unrelated checksums.
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
      // In bounds: the loop stops with 1 to 64 bytes left.
      while offset &+ 64 < count {
        // The lookup that found the bytes has already prefetched the ones before this offset.
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
    // In bounds: these are the last 16 of more than 16 bytes. Some of them may be read twice.
    let low = unsafe bytes.uncheckedWord(at: count &- 16)
    let high = unsafe bytes.uncheckedWord(at: count &- 8)
    return multiplyFold(multiplyFold(low ^ third, high ^ lane0) ^ UInt64(truncatingIfNeeded: count), fourth ^ seed)
  }

  private static func ofFew(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    let count = bytes.byteCount
    var low: UInt64 = 0
    var high: UInt64 = 0
    if count >= 8 {
      // In bounds: `count` is at least 8.
      low = unsafe bytes.uncheckedWord(at: 0)
      high = unsafe bytes.uncheckedWord(at: count &- 8)
    } else {
      // Each of at most seven bytes has its own place in the word.
      var offset = 0
      while offset < count {
        // In bounds by the condition of the loop.
        let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        low |= UInt64(byte) &<< UInt64(truncatingIfNeeded: offset &* 8)
        offset &+= 1
      }
    }
    return multiplyFold(
      multiplyFold(low ^ third, high ^ seed ^ first) ^ UInt64(truncatingIfNeeded: count), fourth ^ seed)
  }
}
