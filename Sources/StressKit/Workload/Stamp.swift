/// The first bytes of every value of a run. They identify the value, so that a reader can check it.
struct Stamp: Equatable, Sendable {
  /// The run that created the value.
  let run: UInt64
  /// The number of the key.
  let key: Int
  let version: Version
  /// The size of the whole value in bytes, including the stamp.
  let length: Int
  /// The checksum of the bytes after the stamp.
  let checksum: UInt64

  /// The size of a stamp in bytes. No value is smaller.
  static let size = 48
  private static let magic: UInt64 = 0x4349_5354_4552_4E31

  init(run: UInt64, key: Int, version: Version, payload: [UInt8]) {
    self.run = run
    self.key = key
    self.version = version
    length = Stamp.size + payload.count
    checksum = Stamp.checksum(payload.rawSpan, from: 0)
  }

  /// Parses the stamp of a value, or returns nil if the value has none. A value of another run than `run` is
  /// foreign.
  init?(of value: RawSpan, run current: UInt64) {
    guard value.byteCount >= Stamp.size, Stamp.word(value, at: 0) == Stamp.magic else { return nil }
    run = Stamp.word(value, at: 8)
    let keyAndKind = Stamp.word(value, at: 16)
    key = Int(keyAndKind >> 8)
    let number = Stamp.word(value, at: 24)
    switch (keyAndKind & 0xFF, run == current) {
    case (1, true): version = .written(number)
    case (2, true): version = .fetched(number)
    case (1, false), (2, false): version = .foreign(run: run, number: number << 2 | keyAndKind & 3)
    default: return nil
    }
    length = Int(truncatingIfNeeded: Stamp.word(value, at: 32))
    checksum = Stamp.word(value, at: 40)
  }

  /// Returns the value: the stamp, followed by `payload`. The stamp must have been created with this payload.
  func value(payload: [UInt8]) -> [UInt8] {
    let (kind, number): (UInt64, UInt64) =
      switch version {
      case .written(let number): (1, number)
      case .fetched(let number): (2, number)
      case .foreign(_, let number): (number & 3, number >> 2)
      }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    for word in [Stamp.magic, run, UInt64(key) << 8 | kind, number, UInt64(length), checksum] {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    }
    bytes += payload
    return bytes
  }

  /// Returns whether the bytes after the stamp match its checksum. The method reads all of them.
  func matchesPayload(of value: RawSpan) -> Bool {
    Stamp.checksum(value, from: Stamp.size) == checksum
  }

  /// A fast checksum of all bytes. It detects accidental damage, but not attacks.
  private static func checksum(_ bytes: RawSpan, from start: Int) -> UInt64 {
    var sum = UInt64(bytes.byteCount - start) &* 0x9E37_79B9_7F4A_7C15
    var offset = start
    while offset + 8 <= bytes.byteCount {
      sum = (sum ^ word(bytes, at: offset)) &* 0xFF51_AFD7_ED55_8CCD
      sum ^= sum >> 32
      offset += 8
    }
    while offset < bytes.byteCount {
      // The condition of the loop keeps the offset inside the span.
      sum = (sum ^ UInt64(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))) &* 0xFF51_AFD7_ED55_8CCD
      offset += 1
    }
    return sum ^ sum >> 29
  }

  private static func word(_ bytes: RawSpan, at offset: Int) -> UInt64 {
    // Every caller has compared the offset with the size of the span.
    UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
