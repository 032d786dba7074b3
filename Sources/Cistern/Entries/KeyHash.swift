/// A key's hash, computed once for shard, slot and memory of what was evicted.
///
/// Strings, arrays of bytes, and integers of 32 and 64 bits are hashed by a multiplication for every 16 bytes and not by the
/// standard library's SipHash, which takes as long as all the rest of a hit. Every factor has a secret of the process in
/// it: who chooses the keys can neither foresee which of them meet nor make a factor zero. That both factors are secret
/// is the idea of Orson Peters's foldhash, which Rust's maps use for keys from outside.
@usableFromInline
struct KeyHash: Sendable {
  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64
  /// Odd.
  @usableFromInline let third: UInt64

  /// All of a process are alike, and others in the next, unless the environment asks for hashing that is the same each time.
  init() {
    first = Self.secret(1)
    second = Self.secret(2)
    third = Self.secret(3) | 1
  }

  private static func secret(_ number: UInt64) -> UInt64 {
    var hasher = Hasher()
    hasher.combine("Cistern")
    hasher.combine(number)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Equal keys have equal hashes. O(1) for an integer, O(n) for n bytes.
  @inlinable
  @inline(__always)
  func of<Key: Hashable>(_ key: Key) -> UInt64 {
    // The casts are of values to the type that they have.
    if Key.self == Int.self { return of(number: UInt64(bitPattern: Int64(unsafe unsafeBitCast(key, to: Int.self)))) }
    if Key.self == String.self { return of(string: unsafe unsafeBitCast(key, to: String.self)) }
    if Key.self == UInt64.self { return of(number: unsafe unsafeBitCast(key, to: UInt64.self)) }
    if Key.self == Int64.self { return of(number: UInt64(bitPattern: unsafe unsafeBitCast(key, to: Int64.self))) }
    if Key.self == UInt.self { return of(number: UInt64(unsafe unsafeBitCast(key, to: UInt.self))) }
    if Key.self == UInt32.self { return of(number: UInt64(unsafe unsafeBitCast(key, to: UInt32.self))) }
    if Key.self == Int32.self {
      return of(number: UInt64(truncatingIfNeeded: unsafe unsafeBitCast(key, to: Int32.self)))
    }
    if Key.self == [UInt8].self { return of(array: unsafe unsafeBitCast(key, to: [UInt8].self)) }
    return UInt64(truncatingIfNeeded: key.hashValue)
  }

  @inlinable
  @inline(__always)
  func of(number: UInt64) -> UInt64 { multiplyFold(multiplyFold(number ^ first, third) ^ second, third) }

  /// By the bytes that equal strings have in common.
  @inline(never)
  @usableFromInline
  func of(string: String) -> UInt64 {
    #if canImport(Darwin)
      // There the bytes are normalised by Foundation, whose Unicode need not be that of the strings' `==`.
      UInt64(truncatingIfNeeded: string.hashValue)
    #else
      // One pass, which finds out as well whether the bytes are ASCII: those of equal strings are the same then.
      let quick = unsafe string.utf8.withContiguousStorageIfAvailable { bytes in
        unsafe mix(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
      }
      if let quick, quick.seen & ControlWord.highBits == 0 { return quick.hash }
      return of(normalizing: string)
    #endif
  }

  @inline(never)
  func of(normalizing string: String) -> UInt64 { string.withKeyBytes { of(bytes: $0) } }

  @usableFromInline
  func of(array: [UInt8]) -> UInt64 { array.withKeyBytes { of(bytes: $0) } }

  func of(bytes: RawSpan) -> UInt64 { mix(bytes).hash }

  /// The hash of bytes, and which bits any of them has, in eight places.
  @inline(__always)
  private func mix(_ bytes: RawSpan) -> (hash: UInt64, seen: UInt64) {
    let count = bytes.byteCount
    var state = first ^ UInt64(truncatingIfNeeded: count)
    guard count > 8 else {
      let few = Self.few(bytes)
      return (multiplyFold(multiplyFold(few ^ state, third) ^ second, third), few)
    }
    var seen: UInt64 = 0
    var offset = 0
    // In bounds: there are more than eight bytes, and it stops with 1 to 16 to go, of the last of which some are taken for the
    // second time.
    while offset &+ 16 < count {
      let (low, high) = unsafe (bytes.uncheckedWord(at: offset), bytes.uncheckedWord(at: offset &+ 8))
      state = multiplyFold(low ^ state, high ^ second)
      seen |= low | high
      offset &+= 16
    }
    let (low, high) = unsafe (bytes.uncheckedWord(at: max(0, count &- 16)), bytes.uncheckedWord(at: count &- 8))
    state = multiplyFold(low ^ state, high ^ second)
    return (multiplyFold(state ^ second, third), seen | low | high)
  }

  /// Up to eight bytes as a number.
  @inline(__always)
  private static func few(_ bytes: RawSpan) -> UInt64 {
    let count = bytes.byteCount
    // In bounds: two words of four overlap where there are four bytes or more; else each byte has a place of its own.
    if count >= 4 {
      let low = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: UInt32.self)
      let high = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 4, as: UInt32.self)
      return UInt64(high) &<< 32 | UInt64(low)
    }
    var number: UInt64 = 0
    for offset in 0..<count {
      number = number &<< 8 | UInt64(unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
    }
    return number
  }
}
