import Eviction

/// The hash function for keys. One hash selects the shard, the slot and the ghost of a key.
///
/// Strings, byte arrays, and integers of 32 and 64 bits use one multiplication for each 16 bytes, which is much
/// faster than the standard library's SipHash. Other keys use their own `hashValue`.
///
/// Each factor of a multiplication contains a secret of the process. A party that chooses the keys can therefore
/// neither predict collisions nor make a factor zero. The idea of two secret factors comes from foldhash by Orson
/// Peters.
@usableFromInline
struct KeyHash: Sendable {
  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64
  /// An odd number.
  @usableFromInline let third: UInt64

  /// Creates the hash function of this process.
  ///
  /// All hash functions of a process are equal. They differ between processes, unless the environment requests
  /// deterministic hashing.
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

  /// Returns a key's hash. Equal keys have equal hashes.
  ///
  /// - Complexity: O(1) for an integer, O(*n*) for *n* bytes.
  @inlinable
  @inline(__always)
  func of<Key: Hashable>(_ key: Key) -> UInt64 {
    // Each cast is safe: the comparison shows that the key has the type to which it is cast.
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

  /// Returns the hash of the bytes that all equal strings have in common.
  @inline(never)
  @usableFromInline
  func of(string: String) -> UInt64 {
    #if canImport(Darwin)
      // On these systems Foundation normalizes the bytes. Its version of Unicode can differ from the one that the
      // strings' `==` uses.
      UInt64(truncatingIfNeeded: string.hashValue)
    #else
      // The same pass finds out whether all bytes are ASCII. Equal ASCII strings have the same bytes.
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

  /// Returns the hash of the bytes, and the union of their bits in eight byte positions.
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
    // In bounds: there are more than eight bytes. The loop leaves 1 to 16 bytes, and the last two words may overlap
    // bytes that it has read.
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

  /// Returns up to eight bytes as a number.
  @inline(__always)
  private static func few(_ bytes: RawSpan) -> UInt64 {
    let count = bytes.byteCount
    // In bounds: two words of four bytes overlap if there are four to eight bytes. Fewer bytes are read one at a
    // time.
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
