/// The row of an extent, or of a record that is a separate value, as 32 bytes.
///
///      0  checksum of the row's key and of all bytes from offset 4
///      4  state          5  zero
///      8  age
///     16  of an extent: the end of its records (4), live bytes (4); of a separate record: its size (8)
///     24  the transaction that emptied a free extent; otherwise zero
enum ExtentRow: Sendable, Equatable {
  case extent(Extent)
  case separate(SeparateRecord)

  static let size = 32

  /// The keys of separate records have this bit, so that they follow the numbers of extents.
  private static let separateBit: UInt64 = 1 << 47
  private static let seed: UInt64 = 0x1f83_d9ab_fb41_bd6b

  /// The first byte of the states.
  private enum Code {
    static let free: UInt8 = 1
    static let closed: UInt8 = 2
    static let separate: UInt8 = 3
    static let open: UInt8 = 16
  }

  /// The object of a key in the tables of extents and rows.
  enum Key: Sendable, Hashable {
    case extent(ExtentNumber)
    case separate(SeparateNumber)

    /// The key in the file.
    var number: UInt64 {
      switch self {
      case .extent(let number): UInt64(number.number)
      case .separate(let number): ExtentRow.separateBit | number.number
      }
    }

    /// Returns nil for a number that is no key, which is a sign of damage.
    init?(number: UInt64) {
      if number < UInt64(ExtentNumber.limit) {
        self = .extent(ExtentNumber(number: UInt32(number)))
      } else if number >> 47 == 1 {
        self = .separate(SeparateNumber(number: number & ~ExtentRow.separateBit))
      } else {
        return nil
      }
    }

    init(_ number: ExtentNumber) { self = .extent(number) }
    init(_ number: SeparateNumber) { self = .separate(number) }
  }

  /// Returns the bytes of the row under its key.
  func bytes(under key: Key) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    var span = bytes.mutableSpan
    // Every pattern of bytes is valid.
    var target = unsafe span.mutableBytes
    var offset = 4
    target.store(code, at: &offset)
    offset = 8
    switch self {
    case .extent(let extent):
      target.store(extent.age.number, at: &offset)
      target.store(UInt32(extent.end), at: &offset)
      target.store(UInt32(extent.liveBytes), at: &offset)
      if case .free(let emptiedBy) = extent.state { target.store(UInt64(emptiedBy.number), at: &offset) }
    case .separate(let record):
      target.store(record.age.number, at: &offset)
      target.store(UInt64(record.size), at: &offset)
    }
    offset = 0
    target.store(Self.checksum(of: target.bytes, under: key), at: &offset)
    return bytes
  }

  private var code: UInt8 {
    switch self {
    case .separate: Code.separate
    case .extent(let extent):
      switch extent.state {
      case .free: Code.free
      case .closed: Code.closed
      case .open(let stream): Code.open + stream.rawValue
      }
    }
  }

  /// Reads the row under a key. Returns nil if a byte is damaged; no bytes make it trap.
  init?(_ bytes: RawSpan, under key: Key, in layout: ExtentLayout) {
    guard bytes.byteCount == Self.size, bytes.integer(at: 0, as: UInt32.self) == Self.checksum(of: bytes, under: key),
      bytes.byte(at: 5) == 0, bytes.integer(at: 6, as: UInt16.self) == 0
    else { return nil }
    let code = bytes.byte(at: 4)
    let age = ExtentAge(number: bytes.integer(at: 8, as: UInt64.self))
    let emptiedBy = TransactionNumber(number: UInt(bytes.integer(at: 24, as: UInt64.self)))
    guard code == Code.free || emptiedBy == .zero else { return nil }
    switch key {
    case .separate:
      let size = bytes.integer(at: 16, as: UInt64.self)
      guard code == Code.separate, size > 0, size < 1 << 47 else { return nil }
      self = .separate(SeparateRecord(age: age, size: Int(size)))
    case .extent:
      guard let state = Self.state(code, emptiedBy: emptiedBy) else { return nil }
      let extent = Extent(
        state: state, age: age, end: Int(bytes.integer(at: 16, as: UInt32.self)),
        liveBytes: Int(bytes.integer(at: 20, as: UInt32.self)))
      guard extent.isValid(in: layout) else { return nil }
      self = .extent(extent)
    }
  }

  private static func state(_ code: UInt8, emptiedBy: TransactionNumber) -> Extent.State? {
    switch code {
    case Code.free: .free(emptiedBy: emptiedBy)
    case Code.closed: .closed
    case Code.open...: Extent.Stream(rawValue: code - Code.open).map { .open($0) }
    default: nil
    }
  }

  private static func checksum(of bytes: RawSpan, under key: Key) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(bytes.extracting(4..<bytes.byteCount), seed: seed ^ key.number))
  }
}

extension Extent {
  /// Whether the fields do not contradict each other or the layout. A damaged or foreign row can do so.
  func isValid(in layout: ExtentLayout) -> Bool {
    let ends = ExtentLayout.headerSize...layout.size
    return ends.contains(end) && end % RecordAddress.unit == 0 && liveBytes >= 0
      && liveBytes <= end - ExtentLayout.headerSize
  }
}
