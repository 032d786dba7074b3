/// The row with which a process continues the log of extents that another process, or an earlier one, has written.
///
/// Each commit writes it. The rows of extents follow only if an extent changes its state, and from time to time.
///
///      0  version of the row   1  binary logarithm of the size of an extent
///      2  method of the reclaim: 0 for none, 1 to evict, 2 to clean   3  the streams with pages for each commit
///      4  number of extents ever added
///      8  newest age          16  next number of a separate record
///     24  open extents for writes and for copies: number (4; all ones for none), end (4), live bytes (4) each
///     48  reclaimed extent (4)   52  examined records (4)   56  copied bytes (4)   60  zero (4)   64  its age
struct LogRow: Sendable, Equatable {
  /// An extent that receives records.
  struct Open: Sendable, Equatable {
    let number: ExtentNumber
    let end: Int
    let liveBytes: Int
  }

  static let size = 72
  private static let version: UInt8 = 1

  let layout: ExtentLayout
  /// The number of extents that the file has ever had, with the released ones.
  let extentCount: Int
  let newestAge: ExtentAge
  let nextSeparate: SeparateNumber
  let open: [Extent.Stream: Open]
  /// The streams whose open extent has the records of each commit in pages of their own.
  let paged: Set<Extent.Stream>
  let reclaim: Reclaim?

  init(_ log: ExtentLog, nextSeparate: SeparateNumber, reclaim: Reclaim?) {
    layout = log.layout
    extentCount = log.givenCount
    newestAge = log.newestAge
    self.nextSeparate = nextSeparate
    var open: [Extent.Stream: Open] = [:]
    for (stream, number) in log.open {
      if let extent = log[number] { open[stream] = Open(number: number, end: extent.end, liveBytes: extent.liveBytes) }
    }
    self.open = open
    paged = log.summary.paged
    self.reclaim = reclaim
  }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    var span = bytes.mutableSpan
    // Every pattern of bytes is valid.
    var target = unsafe span.mutableBytes
    var offset = 0
    target.store(Self.version, at: &offset)
    target.store(UInt8(layout.shift), at: &offset)
    target.store(reclaim?.method.code ?? 0, at: &offset)
    target.store(paged.reduce(UInt8(0)) { $0 | 1 << $1.rawValue }, at: &offset)
    target.store(UInt32(extentCount), at: &offset)
    target.store(newestAge.number, at: &offset)
    target.store(nextSeparate.number, at: &offset)
    for stream in Extent.Stream.allCases {
      let open = open[stream]
      target.store(open?.number.number ?? .max, at: &offset)
      target.store(UInt32(open?.end ?? 0), at: &offset)
      target.store(UInt32(open?.liveBytes ?? 0), at: &offset)
    }
    target.store(reclaim?.number.number ?? 0, at: &offset)
    target.store(UInt32(reclaim?.position ?? 0), at: &offset)
    target.store(UInt32(reclaim?.copiedBytes ?? 0), at: &offset)
    offset = 64
    target.store(reclaim?.age.number ?? 0, at: &offset)
    return bytes
  }

  /// Reads the row. Returns nil if its fields contradict each other; no bytes make it trap.
  ///
  /// The table that holds the row checks its checksum.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.size, bytes.byte(at: 0) == Self.version,
      let layout = ExtentLayout(shift: Int(bytes.byte(at: 1)))
    else { return nil }
    let count = bytes.integer(at: 4, as: UInt32.self)
    let next = bytes.integer(at: 16, as: UInt64.self)
    guard count <= ExtentNumber.limit, next <= SeparateNumber.limit, bytes.integer(at: 60, as: UInt32.self) == 0 else {
      return nil
    }
    self.layout = layout
    extentCount = Int(count)
    newestAge = ExtentAge(number: bytes.integer(at: 8, as: UInt64.self))
    nextSeparate = SeparateNumber(number: next)
    var open: [Extent.Stream: Open] = [:]
    for (place, stream) in Extent.Stream.allCases.enumerated() {
      let number = bytes.integer(at: 24 + 12 * place, as: UInt32.self)
      if number == .max { continue }
      let state = Open(
        number: ExtentNumber(number: number), end: Int(bytes.integer(at: 28 + 12 * place, as: UInt32.self)),
        liveBytes: Int(bytes.integer(at: 32 + 12 * place, as: UInt32.self)))
      let extent = Extent(state: .open(stream), end: state.end, liveBytes: state.liveBytes)
      guard number < count, extent.isValid(in: layout) else { return nil }
      open[stream] = state
    }
    self.open = open
    let pagedBits = bytes.byte(at: 3)
    paged = Set(Extent.Stream.allCases.filter { pagedBits & 1 << $0.rawValue != 0 })
    guard pagedBits < 4, paged.isSubset(of: open.keys) else { return nil }
    switch bytes.byte(at: 2) {
    case 0: reclaim = nil
    case let code:
      let number = bytes.integer(at: 48, as: UInt32.self)
      guard let method = ReclaimPolicy.Method(code: code), number < count else { return nil }
      reclaim = Reclaim(
        ReclaimPolicy.Choice(number: ExtentNumber(number: number), method: method),
        age: ExtentAge(number: bytes.integer(at: 64, as: UInt64.self)),
        position: Int(bytes.integer(at: 52, as: UInt32.self)), copiedBytes: Int(bytes.integer(at: 56, as: UInt32.self)))
    }
  }
}

extension ReclaimPolicy.Method {
  fileprivate var code: UInt8 {
    switch self {
    case .evict: 1
    case .clean: 2
    }
  }

  fileprivate init?(code: UInt8) {
    switch code {
    case 1: self = .evict
    case 2: self = .clean
    default: return nil
    }
  }
}
