import CLMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The location of an environment's mapped pages, for lookups that do not call LMDB.
///
/// The pages of a snapshot do not change while it is open. The map does not move, because no code changes its size.
@usableFromInline
package final class PageMap: Sendable {
  /// The result of a lookup in the pages.
  @unsafe
  @usableFromInline
  enum Answer {
    /// The value of the key, valid while the snapshot is open.
    case value(UnsafeRawBufferPointer)
    case absent
    /// The pages give no answer, so the caller must use LMDB.
    case unknown
  }

  /// The address of the first page, combined with the base-2 logarithm of the page size in the low bits, which are
  /// zero in the address.
  ///
  /// Without an address, the value is `unlearned` or `unusable`.
  private let place = Atomic<UInt>(PageMap.unlearned)

  private static let unlearned: UInt = 0
  private static let unusable: UInt = 1

  init() {}

  /// Whether lookups use the mapped pages.
  package var isKnown: Bool { place.load(ordering: .relaxed) > PageMap.unusable }

  /// Whether a value may tell the location of the map.
  var canLearn: Bool { place.load(ordering: .relaxed) == PageMap.unlearned }

  /// The mapped pages, or nil if their location is not known. They are valid while the environment is open.
  var pages: MappedPages? {
    let place = place.load(ordering: .acquiring)
    guard place > PageMap.unusable else { return nil }
    // `learn(from:of:)` verified that this is the address of the first page.
    return unsafe MappedPages(start: UnsafeRawPointer(bitPattern: place & ~0xFFF)!, shift: UInt64(place & 0xFFF))
  }

  /// Looks up the key in the unnamed database. The caller keeps the snapshot with this number open.
  @usableFromInline
  func look(for key: UnsafeRawBufferPointer, snapshot: UInt) -> Answer {
    guard let pages = unsafe pages else { return unsafe .unknown }
    return unsafe pages.look(for: key, snapshot: UInt64(snapshot))
  }

  /// Learns the location of the map from a value that LMDB found in it. Does nothing after the first successful or
  /// failed attempt.
  @usableFromInline
  func learn(from value: RawSpan, of environment: OpaquePointer) {
    unsafe value.withUnsafeBytes { unsafe learn(from: $0, of: environment) }
  }

  func learn(from value: UnsafeRawBufferPointer, of environment: OpaquePointer) {
    guard canLearn, unsafe !value.isEmpty else { return }
    place.store(unsafe PageMap.place(around: value, environment) ?? PageMap.unusable, ordering: .releasing)
  }

  /// The size of the environment's pages, or nil if lookups do not support them.
  static func pageSize(of environment: OpaquePointer) -> Int? {
    var statistics = MDB_stat()
    guard MemoryLayout<UInt>.size == 8, UInt(1).littleEndian == 1,
      unsafe mdb_env_stat(environment, &statistics) == MDB_SUCCESS,
      // A larger page may not begin at a multiple of its size. The map begins at the start of a system page.
      Int(statistics.ms_psize) <= Int(sysconf(Int32(_SC_PAGESIZE)))
    else { return nil }
    return Int(statistics.ms_psize)
  }

  private static func place(around value: UnsafeRawBufferPointer, _ environment: OpaquePointer) -> UInt? {
    guard let size = unsafe pageSize(of: environment).map({ UInt($0) }) else { return nil }
    let page = UInt(bitPattern: value.baseAddress!) & ~(size - 1)
    // In bounds: the value is in a leaf, or at the start of its overflow pages. Both begin with their page number.
    let number = unsafe UnsafePointer<UInt>(bitPattern: page)!.pointee
    let (distance, isTooFar) = number.multipliedReportingOverflow(by: size)
    guard !isTooFar, distance < page, let start = unsafe UnsafeMutableRawPointer(bitPattern: page - distance),
      // Fails if the memory is not mapped, for example because the page number is damaged.
      unsafe msync(start, Int(size), MS_ASYNC) == 0
    else { return nil }
    // The whole page is mapped. Its content must also be a valid meta page.
    let head = unsafe RawSpan(_unsafeStart: start, byteCount: Int(size))
    guard let meta = try? MetaPage(head, number: 0), meta.pageSize == Int(size) else { return nil }
    return UInt(bitPattern: start) | UInt(size.trailingZeroBitCount)
  }
}
